/** Texts that identify a machine or a network, whatever they are called: PCI, MAC, IPv6, GUID, IPv4. */
const ADDRESSES = [
  /\b(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\b/gi,
  /\b(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b/gi,
  /(?<![0-9a-z:])(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}(?![0-9a-z:])/gi,
  /(?<![0-9a-z:])(?:[0-9a-f]{1,4}:)+:(?:[0-9a-f]{1,4}:)*[0-9a-f]{1,4}(?![0-9a-z:])/gi,
  /(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])/g,
]

/** Shortest name that is replaced: a shorter name would also be found in other words. */
const NAME_LENGTH_MIN = 2

/**
 * Replaces names and addresses, so that a text fits into a public report. Checks do not write them; this is the second
 * guard, for messages of other programs.
 *
 * @param names The names, each with its replacement.
 */
export function scrub(text: string, names: ReadonlyMap<string, string>): string {
  let clean = text
  // The longest name first: it may contain a shorter name.
  for (const [name, replacement] of [...names].sort(([a], [b]) => b.length - a.length)) {
    if (name.length < NAME_LENGTH_MIN) continue
    const quoted = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    clean = clean.replace(new RegExp(`(?<![\\w-])${quoted}(?![\\w-])`, 'g'), replacement)
  }
  for (const address of ADDRESSES) clean = clean.replace(address, '[address]')
  return clean
}
