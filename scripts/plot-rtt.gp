# SPDX-License-Identifier: MIT
# Plots the rows of tcpclient -R or -o: response and service times over time, and response times by percentile.
#   GNUTERM=unknown gnuplot -d -e "rows='rows.csv'; picture='rtt.png'" plot-rtt.gp
if (system("gawk -F, '$1==\"A\" { print 1; exit }' '" . rows . "'") eq "") {
    print "no answers in " . rows
    exit status 1
}
set terminal pngcairo size 1100,800 font "sans,11"
set output picture
set datafile separator ","
answers = "< gawk -F, '$1==\"A\" { if (!t0) t0 = $2; print $2 - t0 \",\" $8 \",\" $8 - $9 }' '" . rows . "'"
sorted = "< gawk -F, '$1==\"A\" { print $8 }' '" . rows . "' | LC_ALL=C sort -n | gawk '{ v[NR] = $1 } END { for (i = 1; i <= NR; i += (i > NR * 0.99 ? 1 : int(NR / 2000) + 1)) print 1 / (1 - (i - 1) / NR) \",\" v[i]; print NR \",\" v[NR] }'"
set multiplot layout 2,1
set logscale y
set grid
set format y "%.0s %cs" # 20 us, 1 ms
set ylabel "time"
set key outside right top

set title "Answers over time"
set xlabel "seconds since the first answer"
plot answers using 1:($2 / 1e6) with dots lc rgb "#4477aa" notitle, \
     answers using 1:($3 / 1e6) with dots lc rgb "#cc6677" notitle, \
     keyentry with points pt 7 lc rgb "#4477aa" title "response", \
     keyentry with points pt 7 lc rgb "#cc6677" title "service"

set title "Response time by percentile"
set xlabel "percentile"
set logscale x
set xtics ("50" 2, "90" 10, "99" 100, "99.9" 1000, "99.99" 10000, "99.999" 100000)
plot sorted using 1:($2 / 1e6) with lines lw 2 lc rgb "#4477aa" title "response"
unset multiplot
