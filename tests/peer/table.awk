# Rows "name, run, prefix, expected, tool, verdict, reason", all of a tool after each other, to a table with a column for each
# tool, and counts by what was expected. With tsv=1: the rows alone, in columns with tabs between.
BEGIN { count = split(tools, names, " ") }
{
    key = $1 "\t" $2
    if (!(key in expected)) {
        order[++rows] = key
        expected[key] = $4
        label[key] = $3 == "CHECK" || $3 == "-" ? $1 : $1 " " $3
    }
    # A program that does not build has one row.
    verdict[key, $5] = $6
    reason[key, $5] = $7
}
# A row in columns with tabs between: the verdicts, then the reasons.
function tabs(key,    line, why, i) {
    line = label[key] "\t" expected[key]
    why = ""
    for (i = 1; i <= count; i++) {
        line = line "\t" (verdict[key, names[i]] == "" ? "-" : verdict[key, names[i]])
        if (reason[key, names[i]] != "") why = why (why == "" ? "" : "; ") names[i] ": " reason[key, names[i]]
    }
    return line "\t" why
}
END {
    if (tsv) {
        gsub(/ /, "\t", tools)
        print "program\texpected\t" tools "\treason"
        for (r = 1; r <= rows; r++) print tabs(order[r])
        exit
    }
    printf "%-44s %-24s", "program", "expected"
    for (i = 1; i <= count; i++) printf " %-13s", names[i]
    print " reason"
    for (r = 1; r <= rows; r++) {
        key = order[r]
        why = ""
        printf "%-44s %-24s", label[key], substr(expected[key], 1, 24)
        for (i = 1; i <= count; i++) {
            tool = names[i]
            said = verdict[key, tool]
            printf " %-13s", said == "" ? "-" : said
            if (tool ~ /^maxrace/ && reason[key, tool] != "") why = why (why == "" ? "" : "; ") reason[key, tool]
            group = expected[key] == "race" || expected[key] == "use-after-free" || expected[key] == "none" ? expected[key] : "other"
            if (!(group in seen)) { seen[group] = 1; groups[++group_count] = group }
            sums[group, tool, said]++
            said_seen[said] = 1
        }
        print " " why
    }
    print ""
    for (g = 1; g <= group_count; g++)
        for (i = 1; i <= count; i++) {
            line = ""
            for (said in said_seen) if (sums[groups[g], names[i], said]) line = line ", " sums[groups[g], names[i], said] " " (said == "" ? "not run" : said)
            printf "%-16s %-14s %s\n", groups[g], names[i], substr(line, 3)
        }
}
