/** Longest label. */
const LABEL_LENGTH_MAX = 128
/** Names of values that fall as well as rise: a round trip, a rate, a delay. */
const OF_GAUGES = /(^|[^a-z])(rtt|rate|latency|delay|window)([^a-z]|$)/i
/** Names of counts of such values. */
const OF_COUNTS = /(^|[^a-z])(count|counts|cnt|num|events|requests|req|responses|packets|pkts|total)([^a-z]|$)/i

/** Returns whether a value is no count, as far as its name shows. The library says nothing about it. */
export function isGauge(name: string): boolean {
  return OF_GAUGES.test(name) && !OF_COUNTS.test(name)
}

/** Returns a label for each counter. Names come from the algorithm, so they may be empty, equal or too long. */
export function counterLabels(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((name, number) => {
    const short = name.slice(0, LABEL_LENGTH_MAX)
    const label = short === '' || taken.has(short) ? `${short}${short === '' ? 'counter' : ''}_${number}` : short
    taken.add(label)
    return label
  })
}
