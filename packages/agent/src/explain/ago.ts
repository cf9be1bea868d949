/** How long ago a time was, in words. Unit: milliseconds since the Unix epoch; 0 means never. */
export function ago(timeMs: number): string {
  if (timeMs === 0) return 'none yet'
  const seconds = Math.max(0, Date.now() - timeMs) / 1000
  return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s ago`
}
