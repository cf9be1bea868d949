import { block, type Checked, check } from '../config/kit.ts'
import { unknownOption } from '../config/unknown-option.ts'
import { SondeError, shown } from '../errors.ts'
import { faultOfSink } from '../sink/check-sink.ts'
import type { Sink } from '../sink/sink.ts'
import { checkDestinations, type Destination, exportEntries } from '../sinks/destinations.ts'
import type { ExportOptions } from '../sinks/export-options.ts'
import { type IpcConfig, type IpcOptions, ipcConfig } from '../sinks/ipc/config.ts'
import type { PrometheusListenerOptions } from '../sinks/prometheus/listener.ts'
import type { SourceOptions } from '../source/options.ts'
import { withExpFiles } from './exp-export.ts'
import { checkName } from './names.ts'
import { blockNames, schemaNames } from './option-names.ts'

/** Options of {@link createSchema}. */
export interface SchemaOptions {
  /** Name of the schema. 1 to 200 bytes of UTF-8 without `/`, `\`, `..` and control characters. */
  name: string
  /** Size of the buffer of a type in each source. Unit: bytes. Range: 8 to 64 MiB. Default: 60 000. */
  bufferBytes?: number
  /** Destinations, such as files of records; see {@link ExportOptions}. Default: none. */
  export?: ExportOptions
  /** The telemetry service of the node; see {@link createIpc}. Default: not used. */
  ipc?: Omit<IpcOptions, 'schema'>
  /**
   * A listener for `/metrics` in the application; see {@link openPrometheus}. Default: a listener if
   * `PROMETHEUS_ENDPOINT` is set. `false`: never.
   */
  prometheus?: PrometheusListenerOptions | false
  /** Whether sources accept opaque events from `reportOpaque`. Default: false. */
  opaqueEvents?: boolean
  /** Sinks of the application's own. The schema flushes and closes them. Default: none. */
  sinks?: readonly Sink[]
}

/**
 * Options with all defaults, those of `export` and `ipc` included. `ipc` and `prometheus` stay undefined if they are
 * not given.
 */
export type SchemaConfig = Readonly<
  Pick<SchemaOptions, 'prometheus'> &
    Required<Omit<SchemaOptions, 'ipc' | 'prometheus'>> & {
      ipc?: Omit<IpcConfig, 'schema'>
    }
>

/** Options of `createSource` of a schema. */
export interface SchemaSourceOptions
  extends Pick<
    SourceOptions,
    'labels' | 'clock' | 'intervalMs' | 'flushIntervalMs' | 'symbolLimit' | 'rowLimit' | 'onLoss'
  > {
  /**
   * Name of the source: a host, a device, an application. 1 to 200 bytes of UTF-8 without `/`, `\`, `..` and control
   * characters. Default: the name of the host.
   */
  id?: string
  /** Free text of the owner, the prefix of the names of data files. May be empty; else the rules of `id` apply. */
  tag: string
}

/** @throws SondeError `TEL_NAME`, `TEL_OPTION` or `IPC_OPTION` with the option, its value and the allowed values. */
export function checkSchemaOptions(options: SchemaOptions): {
  readonly config: SchemaConfig
  readonly destinations: readonly Destination[]
} {
  if (options === null || typeof options !== 'object') {
    throw new SondeError('TEL_OPTION', `a schema was given ${shown(options)}; allowed: an object of its options`)
  }
  const { name, bufferBytes = 60_000, opaqueEvents = false, sinks = [] } = options
  checkName('the name of a schema', name)
  const unknown = unknownOption(options, schemaNames)
  if (unknown !== undefined) throw new SondeError('TEL_OPTION', `schema ${name}: ${unknown}`)
  if (!(typeof bufferBytes === 'number' && bufferBytes >= 8 && bufferBytes <= 64 << 20)) {
    throw new SondeError('TEL_OPTION', `bufferBytes of schema ${name} is ${shown(bufferBytes)}; allowed: 8 to 67108864`)
  }
  checkSinks(name, sinks)
  if (typeof opaqueEvents !== 'boolean') {
    throw new SondeError('TEL_OPTION', `opaqueEvents of schema ${name} is ${shown(opaqueEvents)}; allowed: true, false`)
  }
  for (const key of ['ipc', 'prometheus'] as const) {
    const given: unknown = options[key]
    if (given === undefined || (key === 'prometheus' && given === false)) continue
    if (given === null || typeof given !== 'object') {
      throw new SondeError(
        'TEL_OPTION',
        `${key} of schema ${name} is ${shown(given)}; allowed: an object of its options`,
      )
    }
    const unknownInside = unknownOption(given, blockNames[key])
    if (unknownInside !== undefined) throw new SondeError('TEL_OPTION', `${key} of schema ${name}: ${unknownInside}`)
  }
  const { exports, fileLocation } = withExpFiles(name, options.export ?? {})
  const destinations = checkExport(name, exports, fileLocation)
  const { ipc, ...rest } = options
  const config = Object.freeze({
    ...rest,
    export: filledExport(exports, destinations),
    name,
    bufferBytes,
    opaqueEvents,
    sinks,
    ...(ipc === undefined ? {} : { ipc: filledIpc(ipc) }),
  })
  return { config, destinations: destinations.filter(({ enabled }) => enabled) }
}

const RULES = { spelling: 'camel', isAgent: false } as const

function checkExport(
  name: string,
  given: ExportOptions,
  fileLocation: (path: string) => string,
): readonly Destination[] {
  const take = <T>(checked: Checked<T>): T => {
    if (checked.ok) return checked.value
    const faults = checked.issues.map(
      ({ path, fault, allowed }) => `${fileLocation(path)} ${fault}; allowed: ${allowed}`,
    )
    throw new SondeError('TEL_OPTION', `schema ${name}: ${faults.join('\n')}`)
  }
  const exports = take(check(block(exportEntries(RULES)), given, 'export'))
  return take(checkDestinations(exports, RULES, ['ipc', 'prometheus']))
}

/** Options with all defaults; an object stays an object, and a list a list. */
function filledExport(given: ExportOptions, destinations: readonly Destination[]): ExportOptions {
  const filled = Object.keys(given).map((key) => {
    const own = destinations.filter(({ place }) => place === `export.${key}` || place.startsWith(`export.${key}[`))
    const blocks = own.map(({ name, common, options }) => Object.freeze({ ...common, ...options, name }))
    return [key, Array.isArray(given[key as keyof ExportOptions]) ? Object.freeze(blocks) : blocks[0]]
  })
  return Object.freeze(Object.fromEntries(filled))
}

function checkSinks(name: string, sinks: unknown): void {
  if (!Array.isArray(sinks)) {
    throw new SondeError('TEL_OPTION', `sinks of schema ${name} are ${shown(sinks)}; allowed: an array of sinks`)
  }
  for (const [index, sink] of sinks.entries()) {
    const fault = faultOfSink(sink)
    if (fault !== undefined) throw new SondeError('TEL_OPTION', `sink ${index} of schema ${name} is ${fault}`)
  }
}

function filledIpc(options: IpcOptions): Omit<IpcConfig, 'schema'> {
  const { schema, ...ipc } = ipcConfig(options)
  return Object.freeze(ipc)
}
