import { messageOf, SondeError } from '@sonde/sdk'
import { countOf, readTextFile } from '@sonde/sdk/internal'
import type { Duty, NodeSource, Probe, SourceContext } from '../source.ts'
import type { DcgmExporterOptions } from './config.ts'
import { readDiscovery } from './discovery.ts'
import { Exporter } from './exporter.ts'

const FILE_BYTES_MAX = 1 << 20
/** Time that a call has beyond that of an answer, before its device counts as stuck. Unit: milliseconds. */
const GRACE_MS = 2000

/** Exporters of NVIDIA, each asked by itself: one that hangs keeps no other waiting. */
export class DcgmExporterSource implements NodeSource {
  readonly #options: DcgmExporterOptions
  readonly #context: SourceContext
  readonly #exporters = new Map<string, Exporter>()
  readonly #everyUs: number
  #duties: readonly Duty[] = []
  #ending = new AbortController()

  constructor(options: DcgmExporterOptions, context: SourceContext) {
    this.#options = options
    this.#context = context
    this.#everyUs = context.intervalMs * 1000
    context.source.changePeriod('', { sampleUs: options.collect_interval_ms * 1000 })
    if (options.discovery_file === undefined) this.#follow(options.addresses)
  }

  /** Whether any exporter tells of a GPU. */
  async probe(): Promise<Probe> {
    await this.#discover()
    const exporters = [...this.#exporters.values()]
    if (exporters.length === 0) return { state: 'absent', reason: 'no address of an exporter is given' }
    try {
      await Promise.any(exporters.map((exporter) => exporter.look(this.#ending.signal)))
      return { state: 'present', found: countOf(exporters.length, 'exporter') }
    } catch (error) {
      const [first] = error instanceof AggregateError ? error.errors : [error]
      return { state: 'absent', reason: messageOf(first) }
    }
  }

  duties(): readonly Duty[] {
    return this.#duties
  }

  stuck(device: string, reason: string): void {
    this.#exporters.get(device)?.fail(reason)
  }

  /** Ends what is under way. */
  close(): void {
    this.#ending.abort()
  }

  async #discover(): Promise<void> {
    const { discovery_file: path } = this.#options
    if (path === undefined) return
    const fault = (_: string, why: string, cause?: unknown) =>
      new SondeError('SRC_DISCOVERY', `${path} ${why}`, { cause })
    try {
      this.#follow(readDiscovery(await readTextFile({ path, limitBytes: FILE_BYTES_MAX, fault }), path))
    } catch (error) {
      // Those that are known go on.
      this.#context.failed(path, error)
    }
  }

  /** Asks these from now on, and no others. */
  #follow(addresses: readonly string[]): void {
    const wanted = new Set(addresses)
    const isSame = wanted.size === this.#exporters.size && addresses.every((address) => this.#exporters.has(address))
    if (isSame && this.#duties.length > 0) return
    for (const [address, exporter] of this.#exporters) {
      if (wanted.has(address)) continue
      exporter.leave('the exporter is not listed any more')
      this.#exporters.delete(address)
    }
    for (const address of wanted) {
      if (!this.#exporters.has(address))
        this.#exporters.set(address, new Exporter(address, this.#options, this.#context))
    }
    this.#duties = [...this.#discovery(), ...[...this.#exporters.values()].map((exporter) => this.#dutyOf(exporter))]
  }

  #discovery(): Duty[] {
    if (this.#options.discovery_file === undefined) return []
    return [{ device: '', name: 'discover', everyUs: this.#everyUs, run: () => this.#discover() }]
  }

  #dutyOf(exporter: Exporter): Duty {
    return {
      device: exporter.address,
      name: 'scrape',
      everyUs: this.#everyUs,
      paces: 'report',
      limitMs: this.#options.timeout_ms + GRACE_MS,
      run: () => exporter.scrape(this.#ending.signal),
    }
  }
}
