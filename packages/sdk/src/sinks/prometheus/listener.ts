import { messageOf, SondeError, shown } from '../../errors.ts'
import { FieldSets } from '../../fieldset/field-sets.ts'
import { type Batch, ownerOf, type SourceInfo } from '../../schema/batch.ts'
import { countDrop, type Sink, sinkStats } from '../../sink/sink.ts'
import type { PrometheusOptions } from './config.ts'
import { addressOf, type Endpoint, parseEndpoint } from './endpoint.ts'
import { type Environment, listenerOptionsOf } from './environment.ts'
import { createPrometheus, type Prometheus } from './prometheus.ts'
import { type Serving, serve } from './serve.ts'

/** Options of {@link openPrometheus}. */
export interface PrometheusListenerOptions extends Omit<PrometheusOptions, 'name' | 'nowMs' | 'onFault' | 'onDrop'> {
  /**
   * Where it listens: `http://host:port` or `host:port`; port 0 is any free one. Default: `PROMETHEUS_ENDPOINT`, else
   * `http://127.0.0.1:9101`.
   */
  endpoint?: string | undefined
  /** Folder of `.cset` files. Default: `PROMETHEUS_CSET_DIR`, else that of the `.fset` files. */
  csetDir?: string | undefined
  /** Folder of `.fset` files. Default: `PROMETHEUS_FSET_DIR`, else that of the `.cset` files. */
  fsetDir?: string | undefined
  /**
   * What to do where another process has the port: `fail`, or hand the records to the telemetry `service` of the node,
   * which serves them. Default: `SONDE_PROMETHEUS_WHEN_TAKEN`, else `fail`.
   */
  whenTaken?: 'fail' | 'service' | undefined
}

/** The Prometheus view behind a listener of its own. Who else in this process opens the same endpoint shares both. */
export interface PrometheusSink extends Sink {
  /** Such as `http://127.0.0.1:9101`. */
  readonly address: string
  /** Called before each scrape until this sink is closed, to report what the scrape shall show. */
  beforeScrape: (() => void) | undefined
  /** The shared view; its `stats` count the records of all its users. */
  readonly view: Prometheus
}

/** A view with its listener, and the options by which it is shared. */
interface Shared {
  readonly view: Prometheus
  readonly serving: Serving
  readonly options: string
  readonly sinks: Set<SharedSink>
}

const DEFAULT_ENDPOINT = 'http://127.0.0.1:9101'
/** Ports are of the process, and so is this: by endpoint. */
const shared = new Map<string, Promise<Shared>>()

/**
 * Opens the Prometheus view with a listener of its own: `/metrics`, and parts of it at `/cset/NAME`, `/fset/NAME` and
 * `/NAME`. What an option leaves out, the variables of the guide say. Closing the last sink of an endpoint frees its
 * port.
 *
 * @returns `undefined` if another process has the port, and `whenTaken` is `service`.
 * @throws SondeError `PRM_TAKEN` or `PRM_LISTEN` if it cannot listen, `PRM_ENDPOINT`, `PRM_OPTION` or `PRM_LABELS`
 * if an option is not allowed.
 * @example
 * const prometheus = await openPrometheus({ endpoint: '127.0.0.1:9101' })
 */
export async function openPrometheus(
  options: PrometheusListenerOptions = {},
  environment: Environment = process.env,
): Promise<PrometheusSink | undefined> {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  const {
    endpoint = DEFAULT_ENDPOINT,
    whenTaken = 'fail',
    ...rest
  } = { ...listenerOptionsOf(environment), ...given } as PrometheusListenerOptions
  if (whenTaken !== 'fail' && whenTaken !== 'service')
    throw new SondeError('PRM_OPTION', `whenTaken is ${shown(whenTaken)}; allowed: fail, service`)
  const place = options.endpoint === undefined ? 'PROMETHEUS_ENDPOINT' : 'the endpoint of the Prometheus view'
  const at = parseEndpoint(String(endpoint), place)
  try {
    return await join(at, place, rest)
  } catch (error) {
    if (error instanceof SondeError && error.code === 'PRM_TAKEN' && whenTaken === 'service') return undefined
    throw error
  }
}

type ViewOptions = Omit<PrometheusListenerOptions, 'endpoint' | 'whenTaken'>

async function join(at: Endpoint, place: string, options: ViewOptions): Promise<PrometheusSink> {
  const key = addressOf(at)
  const text = JSON.stringify(Object.entries(options).sort())
  // Port 0 is another port each time.
  if (at.port === 0) return new SharedSink(await open(at, place, options, text), () => undefined)
  const known = shared.get(key)
  const opening = known ?? open(at, place, options, text)
  shared.set(key, opening)
  const forget = () => {
    if (shared.get(key) === opening) shared.delete(key)
  }
  const found = await opening.catch((error: unknown) => {
    forget()
    throw error
  })
  // Its last sink may have been closed meanwhile.
  if (shared.get(key) !== opening) return join(at, place, options)
  if (found.options === text) return new SharedSink(found, forget)
  const rest = 'give another endpoint, or the same options'
  throw new SondeError('PRM_OPTION', `${key} is open in this process with other options; ${rest}`)
}

async function open(at: Endpoint, place: string, options: ViewOptions, text: string): Promise<Shared> {
  const { csetDir, fsetDir, ...viewOptions } = options
  const sinks = new Set<SharedSink>()
  const onDrop = (source: SourceInfo, reason: string, records: number) => {
    for (const sink of sinks) sink.dropped(source, reason, records)
  }
  const view = createPrometheus({ ...viewOptions, onDrop })
  const fieldSets = new FieldSets({ csetDir, fsetDir })
  try {
    const serving = await serve(view, fieldSets, at, () => {
      for (const sink of sinks) sink.beforeScrape?.()
    })
    await fieldSets.tellMissing()
    return { view, serving, options: text, sinks }
  } catch (cause) {
    throw await listenFault(cause, addressOf(at), place)
  }
}

async function listenFault(cause: unknown, address: string, place: string): Promise<SondeError> {
  if ((cause as { code?: string }).code !== 'EADDRINUSE')
    return new SondeError('PRM_LISTEN', `cannot listen on ${address} (${place}): ${messageOf(cause)}`, { cause })
  const service = 'set `whenTaken` or SONDE_PROMETHEUS_WHEN_TAKEN to service'
  const { default: cluster } = await import('node:cluster')
  const rest = cluster.isWorker
    ? `every worker of node:cluster has metrics of its own: to have all of them, ${service}, which hands them to the agent, or serve them in the primary alone, to which workers send theirs`
    : `give another port in PROMETHEUS_ENDPOINT or \`endpoint\`, or ${service}`
  return new SondeError('PRM_TAKEN', `${address} (${place}) is taken; ${rest}`, { cause })
}

/** One opener's share. */
class SharedSink implements PrometheusSink {
  readonly name = 'prometheus'
  readonly stats = sinkStats()
  beforeScrape: (() => void) | undefined
  readonly #shared: Shared
  readonly #last: () => void
  /** The sources that came through here. */
  readonly #own = new WeakSet<object>()
  #closing: Promise<void> | undefined

  constructor(shared: Shared, last: () => void) {
    this.#shared = shared
    this.#last = last
    shared.sinks.add(this)
  }

  get hidden(): ReadonlyMap<string, number> {
    return this.stats.dropped
  }

  get address(): string {
    return this.#shared.serving.address
  }

  get view(): Prometheus {
    return this.#shared.view
  }

  accept(batch: Batch): void {
    this.stats.in += batch.count
    if (this.#closing !== undefined) {
      countDrop(this.stats, 'closed', batch.count)
      return
    }
    this.#own.add(ownerOf(batch.source))
    // Records that are dropped now or later are subtracted again.
    this.stats.out += batch.count
    const startMs = performance.now()
    this.view.accept(batch)
    this.stats.seconds += (performance.now() - startMs) / 1000
  }

  /** The view dropped records, maybe of somebody else who shares it. */
  dropped(source: SourceInfo, reason: string, records: number): void {
    if (!this.#own.has(ownerOf(source))) return
    this.stats.out -= records
    countDrop(this.stats, reason, records)
  }

  causeOf(reason: string): string {
    return this.view.causeOf(reason)
  }

  flush(): Promise<void> {
    return this.view.flush()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const { view, serving } = this.#shared
    this.#shared.sinks.delete(this)
    if (this.#shared.sinks.size > 0) {
      for (const source of view.sources()) if (this.#own.has(ownerOf(source))) view.removeSource(source)
      return
    }
    this.#last()
    await serving.close()
    await view.close()
  }
}
