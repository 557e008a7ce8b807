# make            the program and the library, in build/
# make test       all tests, plain and under AddressSanitizer + UndefinedBehaviorSanitizer
# make help       everything else

VERSION := 0.1.0
CC      ?= gcc
PREFIX  ?= /usr/local
DESTDIR ?=

# VARIANT selects flags and an object folder of its own: release (default), sanitize, clang.
VARIANT ?= release
BUILD   := build/$(VARIANT)
PACKAGES := z3 yaml-0.1 libzstd zlib jansson

OPTIMISE_release  := -O2 -g
OPTIMISE_sanitize := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
OPTIMISE_clang    := -O2 -g
LINK_sanitize     := -fsanitize=address,undefined
ifeq ($(VARIANT),clang)
CC := clang
endif

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
CPPFLAGS += -Isrc -I. -D_POSIX_C_SOURCE=200809L -DMR_VERSION='"$(VERSION)"' -MMD -MP
CFLAGS_ALL = -std=c17 -fPIC -fvisibility=hidden -pthread $(OPTIMISE_$(VARIANT)) $(WARNINGS) \
             $(shell pkg-config --cflags $(PACKAGES)) $(CFLAGS)
LIBS     = $(shell pkg-config --libs $(PACKAGES)) -pthread
LDFLAGS_ALL = $(LINK_$(VARIANT)) $(LDFLAGS)

# Every .c file of these folders is in the library; src/cli is the program.
LIBRARY_FOLDERS := $(filter-out src/cli/,$(sort $(dir $(wildcard src/*/*.c)))) windows/ encoder/ solver/
LIBRARY_SOURCES := $(sort $(wildcard $(addsuffix *.c,$(LIBRARY_FOLDERS))) $(wildcard src/*.c))
CLI_SOURCES     := $(sort $(wildcard src/cli/*.c))
SUPPORT_SOURCES := $(sort $(wildcard tests/support/*.c))
TEST_SOURCES    := $(sort $(wildcard tests/test_*.c))
BENCH_SOURCES   := $(sort $(wildcard bench/*.c))

object  = $(patsubst %.c,$(BUILD)/%.o,$(1))
LIBRARY_OBJECTS := $(call object,$(LIBRARY_SOURCES))
TESTS   := $(patsubst tests/%.c,$(BUILD)/tests/%,$(TEST_SOURCES))
BENCHES := $(patsubst bench/%.c,$(BUILD)/bench/%,$(BENCH_SOURCES))

.PHONY: all
all: $(BUILD)/maxrace $(BUILD)/libmaxrace.a $(BUILD)/libmaxrace.so

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(dir $@)
	$(CC) $(CPPFLAGS) $(CFLAGS_ALL) -c $< -o $@

$(BUILD)/libmaxrace.a: $(LIBRARY_OBJECTS)
	@rm -f $@
	ar rcs $@ $^

$(BUILD)/libmaxrace.so: $(LIBRARY_OBJECTS)
	$(CC) -shared -Wl,-soname,libmaxrace.so.0 $(LDFLAGS_ALL) $^ $(LIBS) -o $@

$(BUILD)/maxrace: $(call object,$(CLI_SOURCES)) $(BUILD)/libmaxrace.a
	$(CC) $(LDFLAGS_ALL) $^ $(LIBS) -o $@

$(BUILD)/tests/test_%: $(BUILD)/tests/test_%.o $(call object,$(SUPPORT_SOURCES)) $(BUILD)/libmaxrace.a
	$(CC) $(LDFLAGS_ALL) $^ $(LIBS) -lcmocka -o $@

$(BUILD)/bench/%: $(BUILD)/bench/%.o $(call object,$(SUPPORT_SOURCES)) $(BUILD)/libmaxrace.a
	$(CC) $(LDFLAGS_ALL) $^ $(LIBS) -o $@

.PHONY: tests
tests: $(BUILD)/maxrace $(TESTS)

# All tests, in both variants; ends with "N passed, N failed".
.PHONY: test
test:
	$(MAKE) VARIANT=release all tests
	$(MAKE) VARIANT=sanitize $(patsubst build/release/%,build/sanitize/%,$(BUILD)/maxrace) tests
	tests/run.sh build/release build/sanitize

.PHONY: clean
clean:
	rm -rf build

.SECONDARY:
-include $(shell find build/$(VARIANT) -name '*.d' 2>/dev/null)
