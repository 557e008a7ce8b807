# make            the program and the library, in build/release
# make test       each suite once, in minutes; make check-all has the rest
# make help       everything else

VERSION   := 0.1.0
SOVERSION := 0
PREFIX    ?= /usr/local
# Where the library goes; what belongs to the program only is in lib/maxrace of PREFIX.
LIBDIR    ?= $(PREFIX)/lib
DESTDIR   ?=
# make's own default is cc; the default here is gcc. CC=… on the command line or in the environment wins.
ifeq ($(origin CC),default)
CC := gcc
endif

# VARIANT selects flags and an object folder of its own: release (default), sanitize, thread, clang, debug.
# MR_COSTLY_CHECKS: the costly assertions of src/base/assert.h, too.
VARIANT ?= release
BUILD   := build/$(VARIANT)

OPTIMISE_release  := -O2 -g
OPTIMISE_sanitize := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -DMR_COSTLY_CHECKS
OPTIMISE_thread   := -O1 -g1 -fsanitize=thread -fno-omit-frame-pointer -DMR_COSTLY_CHECKS
OPTIMISE_clang    := -O2 -g
# With -Og gcc takes variables for uninitialised that are not.
OPTIMISE_debug    := -Og -g -Wno-maybe-uninitialized -DMR_COSTLY_CHECKS
# Most of the time of a test is spent in the library and in tests/support, so what is only a test is compiled and linked in
# the cheapest way, but for tests that read the DWARF of their own program. VARIANT=debug is for looking into a test.
FASTEST_LINKER          := $(if $(shell command -v ld.gold 2>/dev/null),-fuse-ld=gold)
OPTIMISE_TESTS_release  := -O0 -g1
OPTIMISE_TESTS_sanitize := -O0
OPTIMISE_TESTS_thread   := -O0
LINK_TESTS_release      := -Wl,-S $(FASTEST_LINKER)
LINK_TESTS_sanitize     := $(FASTEST_LINKER)
LINK_TESTS_thread       := $(FASTEST_LINKER)
LINK_sanitize     := -fsanitize=address,undefined
LINK_thread       := -fsanitize=thread
ifeq ($(OPTIMISE_$(VARIANT)),)
$(error unknown VARIANT '$(VARIANT)': release, sanitize, thread, clang or debug)
endif
ifeq ($(VARIANT),clang)
CC := clang
endif

PACKAGES      := z3 yaml-0.1 libzstd zlib jansson libxxhash libdw
PACKAGE_FLAGS := $(shell pkg-config --cflags $(PACKAGES))
PACKAGE_LIBS  := $(shell pkg-config --libs $(PACKAGES))
WARNINGS      := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wswitch-enum
CPPFLAGS_ALL  := -Isrc -I. -D_POSIX_C_SOURCE=200809L -DMR_VERSION='"$(VERSION)"' $(CPPFLAGS)
CFLAGS_ALL    := -std=c17 -fPIC -fvisibility=hidden -pthread $(OPTIMISE_$(VARIANT)) $(WARNINGS) $(PACKAGE_FLAGS) $(CFLAGS)
LIBS          := $(PACKAGE_LIBS) -pthread
LDFLAGS_ALL   := $(LINK_$(VARIANT)) $(LDFLAGS)
TEST_CFLAGS   := $(OPTIMISE_TESTS_$(VARIANT))
TEST_LDFLAGS  := $(LINK_TESTS_$(VARIANT))

# The runtime library of recorded programs (runtime/). It is linked into them and replaces functions of libc, so: nothing of
# the compiler's that would call them back (clang needs no more than -fno-builtin for that), no sanitizer, and exceptions (a cancelled thread unwinds through it).
AS_SOURCES      := $(sort $(wildcard runtime/assembler/*.c))
RUNTIME_SOURCES := $(filter-out $(AS_SOURCES),$(shell find runtime -name '*.c' | LC_ALL=C sort))
GCC_ONLY_FLAGS  := $(if $(findstring clang,$(shell $(CC) --version 2>/dev/null)),,-ffreestanding -fno-tree-loop-distribute-patterns)
RUNTIME_FLAGS   := -Iruntime/include -DMAXRACE_RUNTIME -std=gnu17 -D_GNU_SOURCE -O2 -g -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-builtin -D__NO_INLINE__ -fexceptions \
    $(GCC_ONLY_FLAGS) -fno-strict-aliasing -fno-delete-null-pointer-checks -fno-stack-protector -U_FORTIFY_SOURCE \
    $(if $(filter x86_64,$(shell uname -m)),-mcx16) $(WARNINGS)

# predict --mpi: a library of its own, where there is an Open MPI to build it with.
MPI_FLAGS := $(shell pkg-config --cflags ompi-c 2>/dev/null)
MPI_LIBS  := $(shell pkg-config --libs ompi-c 2>/dev/null)
MPI       := $(if $(MPI_LIBS),$(BUILD)/maxrace-mpi.so)

# Every .c file below these folders is in the library, but for two: src/cli is the program, a folder named mpi is what the
# program loads for --mpi.
CORE_SOURCES    := $(shell find src windows encoder solver -name '*.c' | LC_ALL=C sort)
CLI_SOURCES     := $(filter src/cli/%,$(CORE_SOURCES))
MPI_SOURCES     := $(foreach file,$(CORE_SOURCES),$(if $(findstring /mpi/,$(file)),$(file)))
LIBRARY_SOURCES := $(filter-out $(CLI_SOURCES) $(MPI_SOURCES),$(CORE_SOURCES))
SUPPORT_SOURCES := $(sort $(wildcard tests/support/*.c))
TEST_SOURCES    := $(sort $(wildcard tests/test_*.c))
BENCH_SOURCES   := $(sort $(wildcard bench/*.c))
BIG_SOURCES     := $(filter-out %_main.c,$(wildcard bench/big_*.c))
PLANTED_SOURCES := bench/planted.c $(BIG_SOURCES)
# Programs that use the library; the others in examples/ are there to be recorded (docs/tutorial.md).
EXAMPLE_SOURCES := examples/library.c examples/orders.c
C_FILES = $(shell find src windows encoder solver runtime tests bench examples -name '*.[ch]')

object = $(patsubst %.c,$(BUILD)/%.o,$(1))
LIBRARY_OBJECTS := $(call object,$(LIBRARY_SOURCES)) $(BUILD)/html_page.o
SUPPORT_OBJECTS := $(call object,$(SUPPORT_SOURCES))
TESTS           := $(patsubst tests/%.c,$(BUILD)/tests/%,$(TEST_SOURCES))
DWARF_TESTS     := $(filter %/test_locals %/test_symbols,$(TESTS))
CHEAP_TESTS     := $(filter-out $(DWARF_TESTS),$(TESTS))

.PHONY: all
all: $(BUILD)/maxrace $(BUILD)/maxrace-mpirun $(BUILD)/libmaxrace.a $(BUILD)/libmaxrace.so $(BUILD)/libmaxrace_rt.so $(BUILD)/cc/libtsan.so $(BUILD)/cc/libmaxrace_rt.so $(BUILD)/cc/cxx/bits/c++config.h $(BUILD)/cc/as $(MPI)

# Rewritten only when they change: objects are rebuilt when the flags are others, the library when a file went away.
ifneq ($(filter-out clean help uninstall,$(or $(MAKECMDGOALS),all)),)
$(shell mkdir -p $(BUILD))
write_if_changed = $(shell printf '%s\n' '$(subst ','\'',$(2))' | cmp -s - $(1) || printf '%s\n' '$(subst ','\'',$(2))' > $(1))
$(call write_if_changed,$(BUILD)/flags,$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(TEST_CFLAGS) $(LDFLAGS_ALL) $(TEST_LDFLAGS) $(LIBS))
$(call write_if_changed,$(BUILD)/runtime_flags,$(CC) $(RUNTIME_FLAGS))
$(call write_if_changed,$(BUILD)/sources,$(LIBRARY_SOURCES) $(CLI_SOURCES) $(MPI_SOURCES) $(SUPPORT_SOURCES) $(RUNTIME_SOURCES))
endif

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

# The page of the HTML reports as texts in C (src/report/html_page.h).
PAGE_FILES := $(addprefix src/report/html/page.,html css js)
$(BUILD)/html_page.c: $(PAGE_FILES)
	@awk 'BEGIN { print "#include \"report/html_page.h\"" } FNR == 1 { if (NR > 1) print ";"; name = FILENAME; sub(/.*[.]/, "", name); \
	    sub(/css/, "style", name); sub(/js/, "script", name); print "const char mr_page_" name "[] =" } \
	    { gsub(/[\\"]/, "\\\\&"); gsub(/[?]/, "\\?"); print "\"" $$0 "\\n\"" } END { print ";" }' $(PAGE_FILES) > $@.new && mv $@.new $@
$(BUILD)/html_page.o: $(BUILD)/html_page.c
	$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -c $< -o $@

$(BUILD)/libmaxrace.a: $(LIBRARY_OBJECTS) $(BUILD)/sources
	@rm -f $@
	ar rcs $@ $(LIBRARY_OBJECTS)

$(BUILD)/libmaxrace.so: $(LIBRARY_OBJECTS) $(BUILD)/sources
	$(CC) -shared -Wl,-soname,libmaxrace.so.$(SOVERSION) $(LDFLAGS_ALL) $(LIBRARY_OBJECTS) $(LIBS) -o $@

# These keep the program's vector registers (runtime/vectors.h).
$(addprefix $(BUILD)/runtime/,access.o enter_leave.o writer.o): RUNTIME_FLAGS += $(if $(filter x86_64,$(shell uname -m)),-mgeneral-regs-only)
$(BUILD)/runtime/%.o: runtime/%.c $(BUILD)/runtime_flags
	@mkdir -p $(@D)
	$(CC) $(RUNTIME_FLAGS) -MMD -MP -c $< -o $@

# What gcc finds in the place of its own libtsan when 'maxrace cc' calls it (src/cli/cc.c).
$(BUILD)/cc/libtsan.so: $(BUILD)/flags
	@mkdir -p $(@D)
	@printf 'INPUT ( -lmaxrace_rt )\n' > $@
	@printf '' | $(CC) -x c -c - -o $(@D)/libtsan_preinit.o

# … before a header of libstdc++ …
$(BUILD)/cc/cxx/bits/c++config.h: runtime/cxx/bits/c++config.h
	@mkdir -p $(@D)
	@cp $< $@

# … and in the place of its assembler.
$(BUILD)/cc/as: $(call object,$(AS_SOURCES))
	@mkdir -p $(@D)
	$(CC) $(call object,$(AS_SOURCES)) -o $@

LINK_RUNTIME = $(CC) -shared -Wl,-soname,libmaxrace_rt.so -Wl,-z,now $(call object,$(RUNTIME_SOURCES)) -pthread -Wl,--no-as-needed -lm -ldl -o $@
$(BUILD)/libmaxrace_rt.so: $(call object,$(RUNTIME_SOURCES)) $(BUILD)/sources
	$(LINK_RUNTIME)

# What programs are linked with: the linker takes functions of other libraries from these libraries, or from archives of the program that have others of the name.
# Those that allocate are the runtime's all the same, as no block would be known of an allocator in an archive.
LIBC_FILES := $(wildcard $(foreach name,libc.so.6 libm.so.6 libcrypt.so.1,$(shell $(CC) -print-file-name=$(name))))
OWN_ALLOCATION = ^(malloc|calloc|realloc|reallocarray|free|cfree|memalign|aligned_alloc|posix_memalign|valloc|pvalloc|malloc_usable_size);$$
$(BUILD)/cc/libmaxrace_rt.so: $(call object,$(RUNTIME_SOURCES)) $(BUILD)/sources
	@mkdir -p $(@D)
	@{ echo '{ local: clone; tgkill; pidfd_send_signal; g_*; scalable_*; GOMP_*; omp_*; _ZN3tbb*; _ZN*Q*;'; \
	  nm -D --defined-only $(LIBC_FILES) 2>/dev/null | sed -n 's/.* \(.*\)@@.*/\1;/p' | grep -Ev '$(OWN_ALLOCATION)' | sort -u; echo '};'; } > $(@D)/link.map
	$(LINK_RUNTIME) -s -Wl,--version-script=$(@D)/link.map

# The program loads Z3 when it is asked (src/cli/z3_late.c), by the name that the linker would write down.
Z3_FILE    := $(firstword $(wildcard $(patsubst -L%,%/libz3.so,$(filter -L%,$(LDFLAGS_ALL) $(PACKAGE_LIBS)))) $(shell $(CC) -print-file-name=libz3.so))
Z3_LIBRARY := $(shell objdump -p "$(Z3_FILE)" 2>/dev/null | awk '$$1 == "SONAME" { print $$2 }')
$(call object,src/cli/z3_late.c tests/test_cli.c): CPPFLAGS_ALL += $(if $(Z3_LIBRARY),-DMR_Z3_LIBRARY='"$(Z3_LIBRARY)"')
$(BUILD)/maxrace: $(call object,$(CLI_SOURCES)) $(BUILD)/libmaxrace.a
	$(CC) $(LDFLAGS_ALL) $(filter %.o %.a,$^) $(filter-out -lz3,$(LIBS)) -ldl -o $@

$(BUILD)/maxrace-mpirun: packaging/maxrace-mpirun
	install -m 755 $< $@

$(call object,$(MPI_SOURCES)): CPPFLAGS_ALL += $(MPI_FLAGS)
$(BUILD)/maxrace-mpi.so: $(call object,$(MPI_SOURCES)) $(BUILD)/sources
	$(CC) -shared $(LDFLAGS_ALL) $(filter %.o,$^) $(MPI_LIBS) -o $@

# A library, so that a test is linked with what it needs and nothing else.
$(BUILD)/tests/libsupport.a: $(SUPPORT_OBJECTS) $(BUILD)/sources
	@rm -f $@
	ar rcs $@ $(SUPPORT_OBJECTS)

$(CHEAP_TESTS:=.o): CFLAGS_ALL += $(TEST_CFLAGS)
# -g alone does not raise the level of a -g1 before it.
$(DWARF_TESTS:=.o): CFLAGS_ALL += -g2
$(CHEAP_TESTS): LDFLAGS_ALL := $(TEST_LDFLAGS) $(LDFLAGS_ALL)
$(BUILD)/tests/test_%: $(BUILD)/tests/test_%.o $(BUILD)/tests/libsupport.a $(BUILD)/libmaxrace.a
	$(CC) $(LDFLAGS_ALL) $(filter %.o %.a,$^) $(LIBS) -lcmocka -o $@

$(addprefix $(BUILD)/tests/test_,big_trace spill far_bytes): $(call object,$(BIG_SOURCES))
$(BUILD)/tests/test_planted: $(call object,$(PLANTED_SOURCES))
$(BUILD)/tests/test_hard $(BUILD)/tests/test_halted_search $(BUILD)/tests/test_wide: $(call object,bench/hard.c)
$(BUILD)/tests/test_survey $(BUILD)/tests/test_walk $(BUILD)/tests/test_late $(BUILD)/tests/test_jobs: $(call object,bench/hard.c)
$(BUILD)/tests/test_ladder_windows: $(call object,bench/ladder_windows.c)

# Programs with a main of their own and what they are made of; all the rest is bench/bench.
BENCH_MAINS := bench/results.c bench/whole.c bench/orders.c bench/rdit.c bench/command.c bench/big_trace_main.c bench/long_trace.c \
    $(wildcard bench/planted*.c bench/ladder*.c bench/hard*.c)

$(BUILD)/bench/bench: $(call object,$(filter-out $(BENCH_MAINS) $(BIG_SOURCES),$(BENCH_SOURCES))) $(BUILD)/libmaxrace.a
	$(CC) $(LDFLAGS_ALL) $(filter %.o %.a,$^) $(LIBS) -o $@

$(BUILD)/bench/big_trace: $(call object,$(BIG_SOURCES) bench/big_trace_main.c) $(BUILD)/libmaxrace.a
	$(CC) $(LDFLAGS_ALL) $(filter %.o %.a,$^) $(LIBS) -o $@

$(BUILD)/bench/long_trace: $(call object,bench/long_trace.c) $(BUILD)/libmaxrace.a
	$(CC) $(LDFLAGS_ALL) $(filter %.o %.a,$^) $(LIBS) -o $@

$(BUILD)/bench/planted: $(call object,$(PLANTED_SOURCES) bench/planted_main.c) $(BUILD)/libmaxrace.a
	$(CC) $(LDFLAGS_ALL) $(filter %.o %.a,$^) $(LIBS) -o $@

$(BUILD)/bench/orders: $(call object,bench/orders.c bench/command.c) $(BUILD)/libmaxrace.a
	$(CC) $(LDFLAGS_ALL) $(filter %.o %.a,$^) $(LIBS) -o $@

$(BUILD)/examples/%: $(BUILD)/examples/%.o $(BUILD)/libmaxrace.a
	$(CC) $(LDFLAGS_ALL) $(filter %.o %.a,$^) $(LIBS) -o $@

# The programs of the unit tests, and what they run.
.PHONY: tests
tests: $(BUILD)/maxrace $(BUILD)/libmaxrace_rt.so $(BUILD)/cc/libtsan.so $(BUILD)/cc/libmaxrace_rt.so $(BUILD)/cc/cxx/bits/c++config.h $(BUILD)/cc/as $(TESTS) $(patsubst examples/%.c,$(BUILD)/examples/%,$(EXAMPLE_SOURCES))

# Scripts run without make's own variables, which would reach the make that they call.
SCRIPT := env -u MAKELEVEL MAKEFLAGS='$(MAKEOVERRIDES)'
BUILD_FAILED := { echo 'the build failed; the reason is above'; echo '0 passed, 1 failed'; exit 1; }

# Each suite once, in the release build; the long ones do a share. Ends with "N passed, N failed".
.PHONY: test
test:
	@$(MAKE) VARIANT=release all tests || $(BUILD_FAILED)
	@$(SCRIPT) tests/run.sh test

# The rest: full lengths, sanitizers, ThreadSanitizer and Helgrind, clang, the source checks, every compiler and seed of the
# recorder. Of test_exact also EXACT_MORE traces of a fresh seed, which is printed.
.PHONY: check-all
check-all:
	@$(MAKE) VARIANT=release all tests || $(BUILD_FAILED)
	@$(MAKE) VARIANT=sanitize build/sanitize/maxrace tests || $(BUILD_FAILED)
	@$(MAKE) VARIANT=thread thread-tests || $(BUILD_FAILED)
	@$(SCRIPT) tests/run.sh check-all

# One suite: test-NAME is tests/test_NAME.c or tests/check_NAME.sh. TEST_LENGTH=full: not only a share of it.
SUITES := $(patsubst tests/test_%.c,%,$(TEST_SOURCES)) $(patsubst tests/check_%.sh,%,$(wildcard tests/check_*.sh))
.PHONY: $(SUITES:%=test-%)
$(patsubst tests/test_%.c,test-%,$(TEST_SOURCES)): test-%: $(BUILD)/tests/test_%
$(SUITES:%=test-%): test-%: all $(patsubst examples/%.c,$(BUILD)/examples/%,$(EXAMPLE_SOURCES))
	@$(SCRIPT) BUILD=$(BUILD) tests/run.sh suite $*
test-threads: thread-variant $(addprefix $(BUILD)/tests/test_,pool jobs)
.PHONY: thread-variant
thread-variant:
	@$(MAKE) VARIANT=thread thread-tests

# The tests whose threads work together, for tests/check_threads.sh.
THREAD_TESTS := test_pool test_jobs test_far_jobs test_facts test_mrt test_mrt_content test_trace_stream test_sweep test_json_items test_report_many
.PHONY: thread-tests
thread-tests: $(BUILD)/maxrace $(addprefix $(BUILD)/tests/,$(THREAD_TESTS))

# ThreadSanitizer and Helgrind on them; LONG=1: on more traces.
.PHONY: check-threads
check-threads: $(BUILD)/maxrace $(addprefix $(BUILD)/tests/,$(THREAD_TESTS))
	$(MAKE) VARIANT=thread thread-tests
	LONG=$(LONG) BUILD=$(BUILD) MAXRACE=$(BUILD)/maxrace tests/check_threads.sh

# Programs of a folder that carry their expected outcome in comments, under ThreadSanitizer and recorded: what each finds.
# FLAGS='--clang --seeds 3 --only PATTERN'.
.PHONY: check-peer
check-peer: all
	@test -n "$(SUITE)" || { echo "usage: make check-peer SUITE=folder [FLAGS='--clang --seeds N --only PATTERN']" >&2; exit 2; }
	@$(SCRIPT) BUILD=$(BUILD) tests/peer.sh $(FLAGS) "$(SUITE)"

# The tests on random traces, with COUNT (100,000) traces each of a fresh seed, which is printed and can be given again as SEED=….
LONG_TESTS := test_exact test_findings test_order_reference test_orders
.PHONY: check-long
check-long: SEED := $(or $(SEED),$(shell date +%s))
check-long: COUNT := $(or $(COUNT),100000)
check-long: $(addprefix $(BUILD)/tests/,$(LONG_TESTS)) $(BUILD)/maxrace
	@echo "seed $(SEED)"
	@for test in $(LONG_TESTS); do \
	    EXACT_TRACES=$(COUNT) EXACT_SEED=$(SEED) ORDERS_TRACES=$(COUNT) ORDERS_SEED=$(SEED) \
	    FINDINGS_TRACES=$(COUNT) FINDINGS_SEED=$(SEED) \
	    MAXRACE=$(BUILD)/maxrace $(BUILD)/tests/$$test || exit 1; \
	done

.PHONY: bench
bench: $(BUILD)/bench/bench
	$(BUILD)/bench/bench table "$(TRACES)"
	$(MAKE) bench-ladder
	$(MAKE) bench-orders

# Generated traces of 10^6 and 10^7 events (BIG=1: and 10^8, 2.5 GB) are made once; then again only for another generator.
BENCH_DATA   := build/bench-data
LONG_EVENTS  ?= 5000000000
BENCH_SIZES  := 6 7 $(if $(BIG),8)
ORDER_TRACES  = $(filter-out %.branch.xstd.zst,$(if $(TRACES),$(sort $(wildcard $(TRACES)/*.xstd.zst))))
$(BENCH_DATA)/generated-1e%.std: $(wildcard bench/big_*.[ch]) | $(BUILD)/bench/big_trace
	@mkdir -p $(@D)
	$(BUILD)/bench/big_trace --events $$(printf '1%0$*d' 0) > $@

# The whole-trace orders from text and from .mrt, beside mawk.
.PHONY: bench-orders
bench-orders: $(BUILD)/bench/orders $(BUILD)/maxrace $(BENCH_SIZES:%=$(BENCH_DATA)/generated-1e%.std)
	$(BUILD)/bench/orders $(BUILD)/maxrace $(BENCH_DATA) $(BENCH_SIZES:%=$(BENCH_DATA)/generated-1e%.std) $(ORDER_TRACES)

# An .mrt file of EVENTS events, more than 32 bits can number, through the orders, without a file.
.PHONY: bench-long
bench-long: $(BUILD)/bench/long_trace $(BUILD)/maxrace
	for relation in hb shb; do $(BUILD)/bench/long_trace $(LONG_EVENTS) | \
	    $(BUILD)/maxrace order -q --relation $$relation --no-mark --no-witness-check - || test $$? = 1 || exit 1; done

$(BUILD)/bench/planted_check: $(call object,bench/planted_check.c bench/command.c) $(BUILD)/libmaxrace.a
	$(CC) $(LDFLAGS_ALL) $(filter %.o %.a,$^) $(LIBS) -o $@

# A trace with planted races (EVENTS=1e7 by default), and which of them are found.
EVENTS ?= 1e7
$(BENCH_DATA)/planted-%.std: $(wildcard bench/big_*.[ch] bench/planted.[ch] bench/planted_main.c) | $(BUILD)/bench/planted
	@mkdir -p $(@D)
	$(BUILD)/bench/planted --events $* --list $(@:.std=.tsv) > $@

.PHONY: bench-planted
bench-planted: $(BUILD)/bench/planted_check $(BUILD)/maxrace $(BENCH_DATA)/planted-$(EVENTS).std
	$(BUILD)/bench/planted_check $(BUILD)/maxrace $(BENCH_DATA)/planted-$(EVENTS).std $(BENCH_DATA)/planted-$(EVENTS).tsv

$(BUILD)/bench/hard: $(call object,bench/hard.c bench/hard_main.c) $(BUILD)/libmaxrace.a
	$(CC) $(LDFLAGS_ALL) $(filter %.o %.a,$^) $(LIBS) -o $@

$(BUILD)/bench/hard_table: $(call object,bench/hard_table.c bench/command.c) $(BUILD)/libmaxrace.a
	$(CC) $(LDFLAGS_ALL) $(filter %.o %.a,$^) $(LIBS) -o $@

# Hard traces, generated and (TRACES=folder) recorded: time, memory, races, unknowns.
HARD_NAMES ?= $(shell sed -n 's/^    {"\(.*\)", MR_HARD_.*/\1/p; /^const size_t mr_hard_large_count/q' bench/hard.c)
HARD_TRACES = $(if $(TRACES),$(wildcard $(TRACES:%=%/*-large.xstd.zst)))

$(BENCH_DATA)/hard-%.std: bench/hard.c bench/hard.h | $(BUILD)/bench/hard
	@mkdir -p $(@D)
	$(BUILD)/bench/hard $* > $@

.PHONY: bench-hard
bench-hard: $(BUILD)/bench/hard_table $(BUILD)/maxrace $(HARD_NAMES:%=$(BENCH_DATA)/hard-%.std)
	$(BUILD)/bench/hard_table $(BUILD)/maxrace $(HARD_NAMES:%=$(BENCH_DATA)/hard-%.std) $(HARD_TRACES)

# Runs up to the first failure, for the programs of a folder with a manifest (bench/hunt.sh): our own, or PROGRAMS=FOLDER.
PROGRAMS ?= bench/hunt
SEEDS ?= 20
RUNS  ?= 1000
.PHONY: bench-hunt
bench-hunt: $(BUILD)/maxrace $(BUILD)/libmaxrace_rt.so
	bench/hunt.sh $(BUILD)/maxrace "$(PROGRAMS)" $(SEEDS) $(RUNS)

$(BUILD)/bench/ladder: $(call object,$(wildcard bench/ladder*.c)) $(BUILD)/libmaxrace.a
	$(CC) $(LDFLAGS_ALL) $(filter %.o %.a,$^) $(LIBS) -o $@

# Single questions about windows, by the ladder and by the plain formula.
.PHONY: bench-ladder
bench-ladder: $(BUILD)/bench/ladder
	$(BUILD)/bench/ladder $(RESULT_TRACES)

$(BUILD)/bench/results: $(call object,bench/results.c bench/measure.c bench/generate.c) $(BUILD)/libmaxrace.a
	$(CC) $(LDFLAGS_ALL) $^ $(LIBS) -o $@

$(BUILD)/bench/whole: $(call object,bench/whole.c bench/command.c) $(BUILD)/libmaxrace.a
	$(CC) $(LDFLAGS_ALL) $(filter %.o %.a,$^) $(LIBS) -o $@

# The tables of docs/results.md: every trace of the folder that has values, no branch events, and is not a large one; then
# the large ones.
RESULT_TRACES = $(filter-out %.branch.xstd.zst %-large.xstd.zst,$(if $(TRACES),$(sort $(wildcard $(TRACES)/*.xstd.zst))))
LARGE_TRACES  = $(if $(TRACES),$(sort $(wildcard $(TRACES)/*-large.xstd.zst)))
.PHONY: results
results: $(BUILD)/bench/results $(BUILD)/bench/whole $(BUILD)/maxrace
	@test -n "$(RESULT_TRACES)" || { echo "usage: make results TRACES=folder" >&2; exit 2; }
	$(BUILD)/bench/results $(RESULT_TRACES)
	@echo
	$(BUILD)/bench/whole large $(BUILD)/maxrace $(LARGE_TRACES)

# Prediction beside the order wcp, as programs.
.PHONY: bench-wcp-ratio
bench-wcp-ratio: $(BUILD)/bench/whole $(BUILD)/maxrace
	@test -n "$(RESULT_TRACES)" || { echo "usage: make bench-wcp-ratio TRACES=folder" >&2; exit 2; }
	$(BUILD)/bench/whole wcp $(BUILD)/maxrace $(RESULT_TRACES)

# The windows of RVPredict, and the traces that its figures in docs/results.md are of.
PEER_TRACES = $(wildcard $(patsubst %,$(TRACES)/%.xstd.zst,ftpserver xalan derby raytracer zookeeper))
.PHONY: bench-peer
bench-peer: $(BUILD)/bench/whole $(BUILD)/maxrace
	@test -n "$(PEER_TRACES)" || { echo "usage: make bench-peer TRACES=folder" >&2; exit 2; }
	$(BUILD)/bench/whole peer $(BUILD)/maxrace $(PEER_TRACES)

$(BUILD)/bench/rdit: $(call object,bench/rdit.c) $(BUILD)/libmaxrace.a
	$(CC) $(LDFLAGS_ALL) $^ $(LIBS) -o $@

# True races and false alarms on incomplete traces: of examples, and of every trace of the folder that has values.
RDIT_TRACES = $(sort $(filter-out examples/account.std,$(wildcard examples/*.std))) \
    $(filter-out %.branch.xstd.zst %-large.xstd.zst,$(if $(TRACES),$(sort $(wildcard $(TRACES)/*.xstd.zst))))
.PHONY: bench-rdit
bench-rdit: $(BUILD)/bench/rdit
	$(BUILD)/bench/rdit $(RDIT_TRACES)

# What threads, ranks and checkpoints cost and gain, on the generated trace of 10^7 events and those of TRACES that are large.
.PHONY: bench-scaling
bench-scaling: all $(BENCH_DATA)/generated-1e7.std
	bench/scaling.sh $(BUILD)/maxrace $(BENCH_DATA)/generated-1e7.std $(if $(TRACES),$(wildcard $(TRACES)/*-large.xstd.zst $(TRACES)/montecarlo.xstd.zst))

# What recording costs, beside plain programs and -fsanitize=thread.
.PHONY: bench-record
bench-record: all
	bench/record.sh $(BUILD)/maxrace

# Time of each step from the plain program to the report, beside -fsanitize=thread. CASES names a file with more programs.
.PHONY: bench-cost
bench-cost: all
	bench/cost.sh $(BUILD)/maxrace $(CASES)

# What came of the replay of every finding of tests/programs and examples, or of the programs of a folder with a manifest
# (PROGRAMS=FOLDER, bench/replay_all.sh); then what a replay costs beside `record`.
.PHONY: bench-replay
bench-replay: all
	BUILD=$(BUILD) bench/replay_all.sh $(filter-out bench/hunt,$(PROGRAMS))
	@echo
	BUILD=$(BUILD) bench/replay.sh

# Files, lines, lengths, assertions and comments of the source.
.PHONY: bench-source
bench-source:
	bench/source.sh

.PHONY: bench-windows
bench-windows: $(BUILD)/bench/bench
	@test -n "$(TRACE)" || { echo "usage: make bench-windows TRACE=file [SIZES='1000 10000'] [TIMEOUTS='500 2000'] [PAGE=windows.html]" >&2; exit 2; }
	$(BUILD)/bench/bench windows "$(TRACE)" "$(SIZES)" "$(TIMEOUTS)" "$(PAGE)"

LIB_DIR := $(DESTDIR)$(LIBDIR)
OWN_DIR := $(DESTDIR)$(PREFIX)/lib/maxrace
DOC_DIR := $(DESTDIR)$(PREFIX)/share/doc/maxrace
SHARED  := libmaxrace.so.$(VERSION)

SHARE_DIR   = $(DESTDIR)$(PREFIX)/share
COMPLETIONS = bash-completion/completions/maxrace zsh/site-functions/_maxrace fish/vendor_completions.d/maxrace.fish

# Programs find the library in folders where the loader looks (after ldconfig); elsewhere they get the folder with them.
PC_RPATH = $(if $(filter /usr/lib /usr/lib/% /usr/local/lib /lib /lib/%,$(LIBDIR)),,-Wl$(comma)-rpath$(comma)$${libdir} )
comma   := ,

.PHONY: install
install: all
	install -d "$(DESTDIR)$(PREFIX)/bin" "$(LIB_DIR)/pkgconfig" "$(DESTDIR)$(PREFIX)/include" \
	    "$(DESTDIR)$(PREFIX)/share/maxrace" "$(DOC_DIR)/docs" "$(DOC_DIR)/examples"
	install -m 755 $(BUILD)/maxrace "$(DESTDIR)$(PREFIX)/bin/maxrace"
	install -m 755 $(BUILD)/maxrace-mpirun "$(DESTDIR)$(PREFIX)/bin/maxrace-mpirun"
	install -m 644 $(BUILD)/libmaxrace.a "$(LIB_DIR)/libmaxrace.a"
	install -m 755 $(BUILD)/libmaxrace.so "$(LIB_DIR)/$(SHARED)"
	ln -sf $(SHARED) "$(LIB_DIR)/libmaxrace.so.$(SOVERSION)"
	ln -sf $(SHARED) "$(LIB_DIR)/libmaxrace.so"
	install -m 644 src/maxrace.h "$(DESTDIR)$(PREFIX)/include/maxrace.h"
	install -d "$(OWN_DIR)/cc/cxx/bits" "$(DESTDIR)$(PREFIX)/include/maxrace"
	install -m 755 $(BUILD)/libmaxrace_rt.so "$(OWN_DIR)/libmaxrace_rt.so"
	$(if $(MPI),install -m 755 $(MPI) "$(OWN_DIR)/maxrace-mpi.so")
	install -m 644 $(BUILD)/cc/libtsan.so $(BUILD)/cc/libtsan_preinit.o "$(OWN_DIR)/cc"
	install -m 755 $(BUILD)/cc/as $(BUILD)/cc/libmaxrace_rt.so "$(OWN_DIR)/cc"
	install -m 644 $(BUILD)/cc/cxx/bits/c++config.h "$(OWN_DIR)/cc/cxx/bits/c++config.h"
	install -m 644 runtime/include/maxrace/annotate.h "$(DESTDIR)$(PREFIX)/include/maxrace/annotate.h"
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@RPATH@|$(PC_RPATH)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@PACKAGES@|$(filter-out libdw,$(PACKAGES))|' \
	    packaging/maxrace.pc.in > "$(LIB_DIR)/pkgconfig/maxrace.pc"
	install -m 644 config.yaml "$(DESTDIR)$(PREFIX)/share/maxrace/config.yaml"
	install -m 644 README.md NEWS.md LICENSE "$(DOC_DIR)"
	install -m 644 $(wildcard docs/*.md docs/*.json) "$(DOC_DIR)/docs"
	install -m 644 $(wildcard examples/*.std examples/*.[ch]) "$(DOC_DIR)/examples"
	install -m 755 examples/tsan.sh "$(DOC_DIR)/examples"
	install -d "$(SHARE_DIR)/man/man1" $(addprefix "$(SHARE_DIR)"/,$(dir $(COMPLETIONS)))
	$(BUILD)/maxrace help --as man > "$(SHARE_DIR)/man/man1/maxrace.1"
	install -m 644 packaging/maxrace-mpirun.1 "$(SHARE_DIR)/man/man1/maxrace-mpirun.1"
	for command in $$($(BUILD)/maxrace help | awk '/^  [a-z]/ { print $$1 }'); do \
	    $(BUILD)/maxrace help --as man $$command > "$(SHARE_DIR)/man/man1/maxrace-$$command.1" || exit 1; done
	$(BUILD)/maxrace help --as bash > "$(SHARE_DIR)/$(word 1,$(COMPLETIONS))"
	$(BUILD)/maxrace help --as zsh > "$(SHARE_DIR)/$(word 2,$(COMPLETIONS))"
	$(BUILD)/maxrace help --as fish > "$(SHARE_DIR)/$(word 3,$(COMPLETIONS))"
	$(if $(DESTDIR),,@$(SCRIPT) packaging/after-install.sh "$(LIBDIR)")

.PHONY: uninstall
uninstall:
	rm -f "$(DESTDIR)$(PREFIX)/bin/maxrace" "$(DESTDIR)$(PREFIX)/bin/maxrace-mpirun" "$(LIB_DIR)/libmaxrace.a" "$(LIB_DIR)/$(SHARED)" \
	    "$(LIB_DIR)/libmaxrace.so.$(SOVERSION)" "$(LIB_DIR)/libmaxrace.so" "$(LIB_DIR)/pkgconfig/maxrace.pc" \
	    "$(DESTDIR)$(PREFIX)/include/maxrace.h"
	rm -f "$(SHARE_DIR)"/man/man1/maxrace.1 "$(SHARE_DIR)"/man/man1/maxrace-*.1 $(addprefix "$(SHARE_DIR)"/,$(COMPLETIONS))
	rm -rf "$(DESTDIR)$(PREFIX)/share/maxrace" "$(DOC_DIR)" "$(OWN_DIR)" "$(DESTDIR)$(PREFIX)/include/maxrace"

# Debian packages in OUT (build/deb), and what lintian says of them. Needs debhelper and lintian (./bootstrap.sh deps).
.PHONY: deb
deb:
	@$(SCRIPT) packaging/deb.sh "$(or $(OUT),build/deb)"

# The source checks alone: part of make check-all.
.PHONY: lint
lint: all
	$(SCRIPT) tests/check_source.sh

.PHONY: format
format:
	clang-format -i $(C_FILES)

.PHONY: clean
clean:
	rm -rf build

.PHONY: help
help:
	@echo 'make                        the program and the library, in build/release'
	@echo 'make test                   each suite once, in minutes; ends with "N passed, N failed"'
	@echo 'make check-all              the rest: longer tests, sanitizers, threads, clang, source checks'
	@echo 'make test-NAME              one suite: tests/test_NAME.c or tests/check_NAME.sh; TEST_LENGTH=full: all of it'
	@echo 'make tests                  builds the test programs of VARIANT'
	@echo 'make check-long [SEED=n]    100,000 random traces against exhaustive search and definitions'
	@echo "make check-peer SUITE=folder [FLAGS='--clang --seeds N --only PATTERN']"
	@echo '                            programs that carry their expected outcome, under ThreadSanitizer and recorded'
	@echo 'make lint                   the source checks alone (clang, clang-tidy, cppcheck, clang-format, symbols)'
	@echo 'make format                 formats all C files'
	@echo 'make bench [TRACES=dir]     time and memory on examples, generated traces, and dir/*.xstd.zst'
	@echo 'make bench-orders [TRACES=dir] [BIG=1]'
	@echo '                            the whole-trace orders alone, beside mawk; BIG: also 10^8 events (2.5 GB of disk)'
	@echo 'make results TRACES=dir         races of dir/*.xstd.zst in rf and value, beside the orders'
	@echo 'make bench-long             an .mrt file of 5 * 10^9 events (LONG_EVENTS) through hb and shb'
	@echo 'make bench-wcp-ratio TRACES=dir prediction in rf beside the order wcp: how many times as long'
	@echo 'make bench-peer TRACES=dir      the windows of RVPredict'
	@echo 'make bench-rdit [TRACES=dir]    true races and false alarms on incomplete traces, of examples and dir/*.xstd.zst'
	@echo 'make bench-ladder [TRACES=dir]  questions per second by window size: the ladder of steps, the plain formula'
	@echo 'make bench-planted [EVENTS=1e7] races planted at distances up to EVENTS: which are found'
	@echo 'make bench-hard [TRACES=dir]    traces on which a predictor may need far more than their length asks for'
	@echo 'make bench-scaling [TRACES=dir] [SETTINGS=flags]'
	@echo '                            threads, ranks and checkpoints: time by stage, and how many times as fast'
	@echo 'make bench-record           slowdown and size of recording, beside plain and -fsanitize=thread'
	@echo 'make bench-cost             time of each step up to the report; CASES=FILE has more programs'
	@echo 'make bench-source           files and lines by folder, lengths of functions, assertions, comments'
	@echo 'make bench-windows TRACE=file [SIZES=… TIMEOUTS=… PAGE=windows.html]'
	@echo '                            races, unknowns and time over window sizes and solver timeouts'
	@echo 'make install [PREFIX=/usr/local] [LIBDIR=PREFIX/lib] [DESTDIR=]'
	@echo 'make uninstall              the same variables'
	@echo 'make deb [OUT=build/deb]    Debian packages, checked by lintian'
	@echo 'make clean                  removes build/'
	@echo 'VARIANT=release|sanitize|thread|clang|debug selects flags and folder: build/VARIANT'

.SECONDARY:
.DELETE_ON_ERROR:
ifneq ($(filter-out clean help uninstall format,$(or $(MAKECMDGOALS),all)),)
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
endif
