const SECOND_NS = 1_000_000_000n

let lastSecond = -1n
let lastText = ''

/** A time in nanoseconds since the epoch as `2026-11-24T11:00:00.000100000Z`. */
export function isoNs(timeNs: bigint): string {
  const second = timeNs / SECOND_NS
  if (second !== lastSecond) {
    lastSecond = second
    // 64 bits of nanoseconds reach the year 2554, which is in the range of Date.
    lastText = new Date(Number(second) * 1000).toISOString().slice(0, 19)
  }
  return `${lastText}.${String(timeNs % SECOND_NS).padStart(9, '0')}Z`
}
