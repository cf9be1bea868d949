import { isIPv6 } from 'node:net'

/** Failures of an address that cost nothing. */
const FREE_COUNT = 5
const FIRST_WAIT_MS = 1000
const WAIT_MAX_MS = 5 * 60_000
/** An address without a failure for this time begins anew. Unit: milliseconds. */
const FORGET_MS = 15 * 60_000
/** Policy: the address whose last failure is longest ago is forgotten. */
const ADDRESS_COUNT_MAX = 10_000

interface Failures {
  count: number
  untilMs: number
  lastMs: number
}

/**
 * Failed logins by address. After a few, each further failure doubles the time in which wrong tokens from the address
 * are refused without a look. Sessions and right tokens are not affected.
 */
export class Attempts {
  readonly #failures = new Map<string, Failures>()

  /** How long an address has to wait after wrong tokens; 0 if it need not. Unit: milliseconds. */
  waitMs(address: string, nowMs = Date.now()): number {
    const found = this.#failures.get(networkOf(address))
    return found === undefined ? 0 : Math.max(0, found.untilMs - nowMs)
  }

  failed(address: string, nowMs = Date.now()): void {
    const network = networkOf(address)
    const before = this.#failures.get(network)
    const isOld = before === undefined || nowMs - before.lastMs > FORGET_MS
    const count = isOld ? 1 : before.count + 1
    const waitMs = count <= FREE_COUNT ? 0 : Math.min(WAIT_MAX_MS, FIRST_WAIT_MS * 2 ** (count - FREE_COUNT - 1))
    // The map keeps the order of the last failures.
    this.#failures.delete(network)
    this.#failures.set(network, { count, untilMs: nowMs + waitMs, lastMs: nowMs })
    for (const key of this.#failures.keys()) {
      if (this.#failures.size <= ADDRESS_COUNT_MAX) break
      this.#failures.delete(key)
    }
  }
}

/** A user with IPv6 has a whole network of addresses: 64 bits of it. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address
  const [head = '', tail = ''] = address.split('%', 1)[0]!.split('::')
  const groups = head.split(':').filter(Boolean)
  const zeros = address.includes('::') ? 8 - groups.length - tail.split(':').filter(Boolean).length : 0
  return [...groups, ...Array<string>(Math.max(0, zeros)).fill('0'), ...tail.split(':').filter(Boolean)]
    .slice(0, 4)
    .join(':')
}
