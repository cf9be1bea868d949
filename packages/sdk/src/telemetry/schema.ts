import { hostname } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import { unknownOption } from '../config/unknown-option.ts'
import { SondeError, shown } from '../errors.ts'
import { FieldSets, type FieldSetsOptions } from '../fieldset/field-sets.ts'
import { FollowedSets } from '../fieldset/followed-sets.ts'
import { logType } from '../schema/builtin.ts'
import { isType, type RecordType } from '../schema/record-type.ts'
import { forgetExit, type Leaver, watchExit } from '../sink/at-exit.ts'
import { countsOf, type SinkCounts } from '../sink/sink.ts'
import { type Destination, openDestination, prepareDestination } from '../sinks/destinations.ts'
import { createIpc, type IpcSink, type IpcStatus } from '../sinks/ipc/ipc.ts'
import { listenerOptionsOf } from '../sinks/prometheus/environment.ts'
import { openPrometheus, type PrometheusSink } from '../sinks/prometheus/listener.ts'
import { reportSink } from '../sinks/report-sink.ts'
import { Route } from '../sinks/route.ts'
import { applicationLabels } from '../source/application-labels.ts'
import type { SourceOptions } from '../source/options.ts'
import { createOwnSource, createSource, type Source } from '../source/source.ts'
import { checkSchemaOptions, type SchemaConfig, type SchemaOptions, type SchemaSourceOptions } from './config.ts'
import { checkName } from './names.ts'
import { opaqueTypes } from './opaque.ts'
import { sourceNames } from './option-names.ts'
import { Outlet } from './outlet.ts'

/** State of a sink of a schema. */
export interface SchemaSinkStatus {
  readonly name: string
  /** Whether its records survive a crash of the process. */
  readonly durable: boolean
  /** Why it fails, as a sentence; empty if it does not fail, or gives no reason. */
  readonly failing: string
  readonly stats: SinkCounts
}

/** State of a schema and its sinks. */
export interface SchemaStatus {
  /** `declared`: types may be added, until `start`. `started`: sources may be made. */
  readonly state: 'declared' | 'starting' | 'started' | 'closed'
  /**
   * The meaning of an acknowledgement: `durable` if it waits for a sink whose records survive a crash of the process,
   * else `memory`.
   */
  readonly ack: 'durable' | 'memory'
  /** Number of types. */
  readonly types: number
  /** Number of open sources. */
  readonly sources: number
  /** State of the connection to the service; code 1 if the schema has no `ipc`. */
  readonly ipc: IpcStatus
  /**
   * Address of its metrics, for example `http://127.0.0.1:9101`; undefined if it has no listener, or the service serves
   * the metrics.
   */
  readonly prometheus: string | undefined
  /** A snapshot of every sink. */
  readonly sinks: readonly SchemaSinkStatus[]
}

const IPC_DISABLED: IpcStatus = Object.freeze({
  code: 1,
  ack: 'memory',
  mode: 'inline',
  inlineReason: 'the schema has no ipc',
  lastError: undefined,
  ackedSequence: 0,
  spooledBytes: 0,
  dropped: Object.freeze({}),
  hidden: Object.freeze({}),
  notAnnouncedReason: '',
})
const TYPE_COUNT_LIMIT = 256
const SOURCE_COUNT_LIMIT = 1024

/**
 * Makes a schema: types and the destinations of their records. Add types, `start` the schema, make sources, report; at
 * the end `close` it.
 *
 * @throws SondeError `TEL_NAME`, `TEL_OPTION` or `IPC_OPTION` if an option is not allowed.
 * @example
 * const schema = createSchema({ name: 'jobs', export: { files: { dataRoot: '/var/lib/jobs' } }, ipc: {} })
 * const job = schema.addType(
 *   defineType('job', 'A job that ended', { time: timestamp(), queue: label(), seconds: gauge('f64') }),
 * )
 * await schema.start()
 * const source = schema.createSource({ tag: 'batch' })
 * source.report(job, { time: wallNs(), queue: 'mail', seconds: 1.5 })
 * await schema.close()
 */
export function createSchema(options: SchemaOptions): Schema {
  return new Schema(options)
}

/** See {@link createSchema}, which checks the options; do not use `new`. */
export class Schema {
  readonly name: string
  readonly #options: SchemaConfig
  readonly #destinations: readonly Destination[]
  readonly #sets: FollowedSets
  readonly #types: RecordType[] = []
  readonly #names = new Map<string, RecordType>()
  readonly #sources = new Set<Source>()
  readonly #leaver: Leaver
  #ipc: IpcSink | undefined
  #prometheus: PrometheusSink | undefined
  #opening: Promise<readonly Route[]> | undefined
  #state: SchemaStatus['state'] = 'declared'
  #closing: Promise<void> | undefined
  #outlet: Outlet

  constructor(options: SchemaOptions) {
    const { config, destinations } = checkSchemaOptions(options)
    this.#options = config
    this.#destinations = destinations
    this.#sets = new FollowedSets(new FieldSets(foldersOf(config)))
    this.name = this.#options.name
    this.#outlet = new Outlet(this.name, [])
    const records = () => this.#outlet.records
    this.#leaver = {
      emit: () => {
        for (const source of this.#sources) source.emitLast()
      },
      acknowledged: () => this.#outlet.acknowledged([...this.#sources]),
      lost: () => this.#outlet.unheard([...this.#sources]),
      get records() {
        return records()
      },
    }
  }

  /** The options with all defaults, such as the folder of files and the socket of the service. */
  get options(): Readonly<SchemaConfig> {
    return this.#options
  }

  /** The types in the order of their indexes. */
  get types(): readonly RecordType[] {
    return this.#types
  }

  /**
   * Adds a type and returns it. A type whose first field is no timestamp prints a warning once.
   *
   * @throws SondeError `TEL_STATE` after `start`, `TEL_TYPE` if the schema has a type of that name, `TEL_LIMIT` beyond
   * 256 types.
   */
  addType<T extends RecordType>(type: T): T {
    this.#expect('declared', `type ${type?.name} cannot be added: types are added before start`)
    if (!isType(type)) throw new SondeError('TEL_TYPE', `${shown(type)} is no type; make one with defineType`)
    if (this.#names.has(type.name)) {
      throw new SondeError(
        'TEL_TYPE',
        `schema ${this.name} has a type ${type.name}; names of types are unique in a schema`,
      )
    }
    if (this.#types.length >= TYPE_COUNT_LIMIT) {
      throw new SondeError(
        'TEL_LIMIT',
        `schema ${this.name} has ${TYPE_COUNT_LIMIT} types; use a second schema for more`,
      )
    }
    if (type.layout.slots[0]?.field.role !== 'timestamp') {
      process.emitWarning(
        `type ${type.name} of schema ${this.name} does not begin with a timestamp: readers cannot tell when its records were made`,
        { code: 'TEL_NO_TIME' },
      )
    }
    this.#types.push(type)
    this.#names.set(type.name, type)
    return type
  }

  /**
   * The index of a type, for `report` and for callers of the C interface.
   *
   * @throws SondeError `TEL_TYPE` if the schema does not have the type.
   */
  indexOf(type: RecordType): number {
    const index = this.#types.indexOf(type)
    if (index >= 0) return index
    throw new SondeError('TEL_TYPE', `schema ${this.name} has no type ${type?.name}; add it with addType before start`)
  }

  /**
   * The type at an index.
   *
   * @throws SondeError `TEL_TYPE` if there is none.
   */
  typeAt(index: number): RecordType {
    const type = this.#types[index]
    if (type !== undefined) return type
    throw new SondeError(
      'TEL_TYPE',
      `schema ${this.name} has no type of index ${shown(index)}; it has ${this.#types.length} types, from 0 on`,
    )
  }

  /**
   * Opens the sinks; from now on no type is added, and sources may be made. May be tried again where it failed.
   *
   * @throws SondeError `TEL_STATE` if it was started or closed already; `FIL_ROOT` if no file can be made in
   * `dataRoot`; `TEL_OPTION` if a field set is not there; whatever else a sink cannot be opened for.
   */
  async start(): Promise<void> {
    this.#expect('declared', 'it is started once')
    this.#state = 'starting'
    this.#opening = this.#openSinks()
    try {
      this.#outlet = new Outlet(this.name, await this.#opening, this.#ipc)
    } catch (error) {
      if (this.#state === 'starting') this.#state = 'declared'
      throw error
    }
    this.#expect('starting', 'it was closed while it started')
    if (this.#outlet.sinks.length === 0) {
      process.emitWarning(
        `schema ${this.name} has no sink, and what is reported goes nowhere: give it export, ipc, prometheus or sinks`,
        { code: 'TEL_NO_SINK' },
      )
    }
    Object.freeze(this.#types)
    this.#state = 'started'
    watchExit(this.#leaver)
  }

  /**
   * Makes a source of this schema; all of them share its sinks.
   *
   * @throws SondeError `TEL_STATE` before `start` and after `close`; `TEL_NAME` if id or tag is not allowed;
   * `TEL_OPTION` for an unknown option; `TEL_SOURCE` if an open source has the same id, tag and labels; `TEL_LIMIT`
   * beyond 1024 open sources; the errors of {@link createSource}.
   */
  createSource(options: SchemaSourceOptions): Source {
    this.#expect('started', 'sources are made after start')
    if (options === null || typeof options !== 'object') {
      throw new SondeError(
        'TEL_OPTION',
        `a source of schema ${this.name} was given ${shown(options)}; allowed: an object of its options`,
      )
    }
    const unknown = unknownOption(options, sourceNames)
    if (unknown !== undefined) throw new SondeError('TEL_OPTION', `a source of schema ${this.name}: ${unknown}`)
    const { id = hostname(), tag, ...rest } = options
    checkName(`the id of a source of schema ${this.name}`, id)
    checkName(`the tag of a source of schema ${this.name}`, tag, { mayBeEmpty: true })
    for (const source of this.#sources) if (source.isClosed) this.#sources.delete(source)
    const info = { id, tag, labels: applicationLabels({ id, tag, labels: rest.labels ?? {} }) }
    this.#expectNew(info)
    if (this.#sources.size >= SOURCE_COUNT_LIMIT) {
      throw new SondeError(
        'TEL_LIMIT',
        `schema ${this.name} has ${SOURCE_COUNT_LIMIT} open sources; close those that are no longer needed`,
      )
    }
    const source = createSource({
      ...rest,
      ...info,
      bufferBytes: this.#options.bufferBytes,
      types: this.#types,
      emit: (batch) => this.#outlet.accept(batch),
      acknowledge: () => this.#outlet.acknowledged(),
      ready: () => this.#outlet.ready(),
    })
    source.admit(logType)
    if (this.#options.opaqueEvents) for (const type of opaqueTypes) source.admit(type)
    this.#sources.add(source)
    return source
  }

  /**
   * Emits what all sources have buffered, and resolves once every sink has acknowledged it.
   *
   * @throws FlushError with the number of records of each kind. `TEL_LOST`: a sink or a source lost records since the
   * flush before. `TEL_PENDING`: none is lost, but some still wait for their acknowledgement. `TEL_HIDDEN`: all are
   * acknowledged, but a view does not show some.
   * @throws SondeError `TEL_STATE` before `start` and after `close`.
   */
  async flush(): Promise<void> {
    this.#expect('started', 'there is something to flush between start and close')
    for (const source of this.#sources) source.emit()
    await this.#outlet.acknowledged([...this.#sources])
  }

  /**
   * Closes the sources, flushes and closes the sinks. May be called twice.
   *
   * @throws FlushError `TEL_LOST` if a sink or a source lost records since the flush before, or a sink may not have
   * kept some, `TEL_HIDDEN` if all are kept and a view does not show some; all sinks are closed then too.
   */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown()
    return this.#closing
  }

  /** How it fares, in plain objects that stay as they are: at any time, also after `close`. */
  status(): SchemaStatus {
    const { routes } = this.#outlet
    const sinks = routes.map(({ sink, failing = '' }) => {
      const { name, durable = false } = sink
      return { name, durable, failing, stats: countsOf(sink) }
    })
    const isDurable = routes.some(({ sink, acknowledges }) => acknowledges && sink.durable === true)
    const ipc = this.#ipc?.status() ?? IPC_DISABLED
    return {
      state: this.#state,
      ack: isDurable || ipc.ack === 'durable' ? 'durable' : 'memory',
      types: this.#types.length,
      sources: [...this.#sources].filter(({ isClosed }) => !isClosed).length,
      ipc,
      prometheus: this.#prometheus?.address,
      sinks,
    }
  }

  async #openSinks(): Promise<readonly Route[]> {
    const { name, prometheus, sinks } = this.#options
    const isWanted = prometheus !== false && (prometheus !== undefined || Boolean(process.env.PROMETHEUS_ENDPOINT))
    const listener = isWanted ? await openPrometheus(prometheus) : undefined
    const opened = listener === undefined ? [] : [new Route(listener)]
    try {
      const context = { schema: name, version: '', types: this.#types }
      for (const destination of this.#destinations) {
        await prepareDestination(destination)
        opened.push(openDestination(destination, context, (set) => this.#sets.follow(set)))
      }
      await this.#openSets()
      // Somebody else has the port: the service serves the records then.
      const ipc = this.#options.ipc ?? (isWanted && listener === undefined ? {} : undefined)
      if (ipc !== undefined) {
        this.#ipc = createIpc({ ...ipc, schema: name })
        opened.push(new Route(this.#ipc))
      }
    } catch (error) {
      for (const { sink } of opened) await sink.close()
      throw error
    }
    this.#prometheus = listener
    const routes = [...opened, ...sinks.map((sink) => new Route(sink))]
    if (listener !== undefined) this.#showSinks(listener, routes)
    return routes
  }

  /** `/metrics` of an application shows how its other sinks fare, as that of an agent does. */
  #showSinks(listener: PrometheusSink, routes: readonly Route[]): void {
    const labels = applicationLabels({ id: hostname(), tag: this.name, labels: {} })
    const source = createOwnSource({ id: this.name, labels, emit: (batch) => listener.view.accept(batch) })
    const shown = routes.filter(({ sink }) => sink !== listener)
    listener.beforeScrape = () => {
      for (const { sink, failing } of shown)
        reportSink(source, sink, failing === undefined ? undefined : failing === '')
      source.collect()
      source.emit()
    }
  }

  async #openSets(): Promise<void> {
    await this.#sets.open()
    const { faults } = this.#sets
    if (faults.length > 0) throw new SondeError('TEL_OPTION', `schema ${this.name}: ${faults.join('; ')}`)
  }

  async #shutDown(): Promise<void> {
    const wasStarting = this.#state === 'starting'
    this.#state = 'closed'
    forgetExit(this.#leaver)
    if (wasStarting) await Promise.allSettled([this.#opening])
    for (const source of this.#sources) void source.close()
    this.#sets.close()
    await this.#outlet.close([...this.#sources])
    // A schema that never started uses no sink, but must close the sinks of its caller anyway.
    if (this.#outlet.routes.length === 0) await Promise.all(this.#options.sinks.map((sink) => sink.close()))
  }

  /** Refuses a second source with equal identity: both would share series, and a view would show only one of them. */
  #expectNew({ id, tag, labels }: Pick<SourceOptions, 'id' | 'tag' | 'labels'>): void {
    const isSame = ({ info }: Source) => info.id === id && info.tag === tag && isDeepStrictEqual(info.labels, labels)
    if (![...this.#sources].some(isSame)) return
    throw new SondeError(
      'TEL_SOURCE',
      `schema ${this.name} has an open source of id ${shown(id)} and tag ${shown(tag)} with the same labels; use that source, or give this source another tag or a label`,
    )
  }

  #expect(state: SchemaStatus['state'], rule: string): void {
    if (this.#state === state) return
    throw new SondeError('TEL_STATE', `schema ${this.name} is ${this.#state}; ${rule}`)
  }
}

/** Where field sets are: in the folders of the options, else in those that the environment names. */
function foldersOf({ prometheus }: SchemaConfig): FieldSetsOptions {
  const given = prometheus === false ? {} : prometheus
  const named = listenerOptionsOf(process.env)
  return { csetDir: given?.csetDir ?? named.csetDir, fsetDir: given?.fsetDir ?? named.fsetDir }
}
