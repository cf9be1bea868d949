import { setTimeout } from 'node:timers/promises'
import { SondeError } from '@sonde/sdk'
import type { TargetStatus } from '@sonde/sdk/api'
import { countOf, messageOf, readTextFile } from '@sonde/sdk/internal'
import type { Duty, NodeSource, Probe, SourceContext } from '../source.ts'
import { Claims } from './claims.ts'
import { readDiscovery } from './discovery.ts'
import { holdingsIn } from './holdings.ts'
import type { ScrapingOptions } from './options.ts'
import { Target, type TargetReader } from './target.ts'

const FILE_BYTES_MAX = 1 << 20
/** A device counts as stuck if its call takes this much longer than the limit of an answer. Unit: milliseconds. */
const GRACE_MS = 2000
/** How long a probe waits for the other exporters after the first answer. Unit: milliseconds. */
const OTHERS_MS = 1000
/** How long a probe waits for a first answer. Later answers are left to the first scrape. Unit: milliseconds. */
const ANY_MS = 3000

/** Makes the reader of one address. */
export type MakeReader = (address: string, claims: Claims) => TargetReader

/** Scrapes several exporters independently: an exporter that hangs does not delay the others. */
export class ScrapingSource implements NodeSource {
  readonly #options: ScrapingOptions
  readonly #context: SourceContext
  readonly #make: MakeReader
  readonly #targets = new Map<string, Target>()
  readonly #claims = new Claims()
  readonly #everyUs: number
  #duties: readonly Duty[] = []
  #statuses: readonly TargetStatus[] = []
  readonly #ending = new AbortController()

  constructor(options: ScrapingOptions, context: SourceContext, make: MakeReader) {
    this.#options = options
    this.#context = context
    this.#make = make
    this.#everyUs = context.intervalMs * 1000
    if (options.discovery_file === undefined) this.#follow(options.addresses)
  }

  /** Reports whether at least one exporter gives a valid answer. */
  async probe(): Promise<Probe> {
    const { discovery_file: path, addresses } = this.#options
    if (path === undefined) this.#follow(addresses)
    const fault = await this.#discover()
    const targets = [...this.#targets.values()]
    if (targets.length === 0) return { state: 'absent', reason: fault ?? 'no address of an exporter is given' }
    const faults = new Map<string, string>(targets.map(({ address }) => [address, `${address} has not answered yet`]))
    const looks = targets.map(async (target) => {
      await target.look(this.#ending.signal).catch((error: unknown) => {
        faults.set(target.address, messageOf(error))
        throw error
      })
      faults.delete(target.address)
    })
    try {
      await Promise.race([Promise.any(looks), setTimeout(ANY_MS, undefined, { ref: false })])
    } catch (error) {
      const [first] = error instanceof AggregateError ? error.errors : [error]
      return { state: 'absent', reason: messageOf(first) }
    }
    await Promise.race([Promise.allSettled(looks), setTimeout(OTHERS_MS, undefined, { ref: false })])
    return { state: 'present', found: foundOf(targets.length, [...faults.values()]) }
  }

  duties(): readonly Duty[] {
    return this.#duties
  }

  targets(): readonly TargetStatus[] {
    const statuses = Array.from(this.#targets.values(), ({ status }) => status)
    const isSame =
      statuses.length === this.#statuses.length && statuses.every((status, i) => status === this.#statuses[i])
    if (!isSame) this.#statuses = statuses
    return this.#statuses
  }

  found(): string {
    const ill = this.targets().filter(({ state }) => state !== 'reading')
    const reasons = ill.map(({ target, reason }) => reason || `${target} has not answered yet`)
    return foundOf(this.#targets.size, reasons)
  }

  /**
   * Gives up the GPUs and pods that sources with direct access to the hardware hold:
   * `{"hold": [{"key", "holder", "isTaken"}]}`.
   *
   * @throws SondeError `AGT_COMMAND` if the command is malformed.
   */
  command(command: unknown): object {
    this.#claims.hold(holdingsIn(command))
    for (const target of this.#targets.values()) target.review()
    return {}
  }

  stuck(device: string, reason: string): void {
    this.#targets.get(device)?.fail(reason)
  }

  /** Drops the answers under way, and reports everything that the exporters told as gone. */
  pause(reason: string): void {
    for (const target of this.#targets.values()) target.leave(reason)
    this.#targets.clear()
    this.#duties = []
  }

  /** Aborts all running requests. */
  close(): void {
    this.#ending.abort()
  }

  /** Reads the discovery file again. Returns why that failed; undefined if it succeeded or no file is configured. */
  async #discover(): Promise<string | undefined> {
    const { discovery_file: path } = this.#options
    if (path === undefined) return undefined
    const fault = (_: string, why: string, cause?: unknown) =>
      new SondeError('SRC_DISCOVERY', `${path} ${why}`, { cause })
    try {
      this.#follow(readDiscovery(await readTextFile({ path, limitBytes: FILE_BYTES_MAX, fault }), path))
    } catch (error) {
      // The known addresses are still scraped.
      this.#context.failed(path, error)
      return messageOf(error)
    }
    return undefined
  }

  /** Replaces the set of scraped addresses. */
  #follow(addresses: readonly string[]): void {
    const wanted = new Set(addresses)
    const isSame = wanted.size === this.#targets.size && addresses.every((address) => this.#targets.has(address))
    if (isSame && this.#duties.length > 0) return
    for (const [address, target] of this.#targets) {
      if (wanted.has(address)) continue
      target.leave('the exporter is not listed any more')
      this.#targets.delete(address)
    }
    for (const address of wanted) {
      if (!this.#targets.has(address))
        this.#targets.set(address, new Target(address, this.#options, this.#context, this.#make(address, this.#claims)))
    }
    this.#duties = [...this.#discovery(), ...[...this.#targets.values()].map((target) => this.#dutyOf(target))]
  }

  #discovery(): Duty[] {
    if (this.#options.discovery_file === undefined) return []
    return [{ device: '', name: 'discover', everyUs: this.#everyUs, run: () => this.#discover().then(() => undefined) }]
  }

  #dutyOf(target: Target): Duty {
    return {
      device: target.address,
      name: 'scrape',
      everyUs: this.#everyUs,
      paces: 'report',
      limitMs: this.#options.timeout_ms + this.#options.max_cpu_ms + GRACE_MS,
      run: () => target.scrape(this.#ending.signal),
    }
  }
}

/** Sentence for the probe: how many exporters answer, and the error of the first that does not. */
function foundOf(count: number, faults: readonly string[]): string {
  const [first, ...more] = faults
  if (first === undefined) return countOf(count, 'exporter')
  const rest = more.length > 0 ? `, and ${more.length} more` : ''
  return `${count - faults.length} of ${countOf(count, 'exporter')}; ${first}${rest}`
}
