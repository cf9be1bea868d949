import { SondeError, shown } from '../errors.ts'
import type { Batch, Clock } from '../schema/batch.ts'
import { isType, type RecordType } from '../schema/record-type.ts'
import type { Labels } from '../schema/series.ts'
import { faultOfSource } from '../schema/source-rules.ts'
import { TEXT_COUNT } from '../schema/texts.ts'

/** Options of {@link createSource}. */
export interface SourceOptions {
  /** Name of the source: a host, a device, an application. 1 to 200 characters. */
  id: string
  /** Free text of the owner, at most 4096 characters. Default: empty. */
  tag?: string
  /**
   * Constant labels of every series: at most 256. A name has letters, digits and `_`; a text has at most 4096
   * characters; all labels of a series, those of its record included, have at most 8192 characters. Default: none.
   */
  labels?: Labels
  /**
   * Receives full batches; their bytes are valid only during the call. If it throws, the batch is lost and counted as
   * `failed`. Must not report to the same source.
   */
  emit: (batch: Batch) => void
  /**
   * Resolves when all records emitted so far are acknowledged; `flush` and `close` of the source wait for it. Default:
   * they wait for nothing.
   */
  acknowledge?: () => Promise<void>
  /**
   * Resolves when the receiver of batches can accept more; `ready` of the source waits for it. Must not reject.
   * Default: the receiver can always accept more.
   */
  ready?: () => Promise<void>
  /**
   * The allowed types, which `report` takes as objects or by their index in this list. A schema passes its own types.
   * Default: any type, and no index.
   */
  types?: readonly RecordType[]
  /**
   * The longest time in a buffer. Unit: milliseconds. Range: 0 (default: until a buffer is full) to 3 600 000.
   */
  flushIntervalMs?: number
  /** Size of the buffer of a type. Unit: bytes. Range: one record to 64 MiB. Default: 60 000. */
  bufferBytes?: number
  /**
   * Clock of the timestamps. Times of a clock other than `wall` are not converted, and the agent's charts drop such
   * records as `untranslated`. Default: `wall`.
   */
  clock?: Clock
  /**
   * Sample period, by which readers recognise gaps. Without it, they estimate the period from the times of records.
   * Unit: milliseconds. Range: 0 (default: no period) to 86 400 000, a day.
   */
  intervalMs?: number
  /**
   * Size of the symbol table of labels. A full table is replaced by an empty table; no record is lost. Range: 2 to
   * 4 000 000. Default: 65 536.
   */
  symbolLimit?: number
  /**
   * Size of the symbol table of text fields. A table that is full, or has 4 MiB of texts, is replaced by an empty
   * table; no record is lost, but repeated texts are sent again. Range: 1 to 65 536. Default: 32 768.
   */
  textLimit?: number
  /**
   * Called at once for every dropped record; must not throw. Default: the source reports its losses as records of
   * `sonde_loss`, with its id as the component, at `flush`, `collect` and `close`: at most once a second, and again
   * every minute.
   */
  onLoss?: (reason: string, records: number) => void
  /** Limit of bound rows a type. Default: 100 000. */
  rowLimit?: number
}

/** Options that may stay undefined. */
type Left = 'symbolLimit' | 'onLoss' | 'acknowledge' | 'ready' | 'types'

/** The options of a source, every default filled in. */
export type AllOptions = SourceOptions & Required<Omit<SourceOptions, Left>>

const CLOCKS: readonly Clock[] = ['wall', 'monotonic', 'device']
const BUFFER_BYTES_DEFAULT = 60_000
const BUFFER_BYTES_LIMIT = 64 << 20
const ROW_LIMIT_DEFAULT = 100_000
const TEXT_COUNT_LIMIT = 65_536
/** One day, the longest period. */
const INTERVAL_MS_LIMIT = 86_400_000
const FLUSH_INTERVAL_MS_LIMIT = 3_600_000

/**
 * @throws SondeError `SRC_ID`, `SRC_BUFFER_BYTES` or `SRC_OPTION` with the option, its value and the allowed values.
 */
export function checkSourceOptions(options: SourceOptions): AllOptions {
  if (options === null || typeof options !== 'object') {
    throw new SondeError('SRC_OPTION', `a source was given ${shown(options)}; allowed: an object of its options`)
  }
  const { bufferBytes = BUFFER_BYTES_DEFAULT, rowLimit = ROW_LIMIT_DEFAULT, intervalMs = 0, clock = 'wall' } = options
  const { id, tag = '', labels = {}, emit, acknowledge, ready, onLoss, types, flushIntervalMs = 0 } = options
  const { textLimit = TEXT_COUNT } = options
  const fault = faultOfSource({ id, tag, labels })
  if (fault?.place === 'id') throw refused('id', fault.given, fault.allowed, 'SRC_ID')
  if (fault !== undefined) throw refused(fault.place, fault.given, fault.allowed)
  if (!isBetween(bufferBytes, 8, BUFFER_BYTES_LIMIT)) {
    throw new SondeError(
      'SRC_BUFFER_BYTES',
      `bufferBytes is ${shown(bufferBytes)}; allowed: 8 to ${BUFFER_BYTES_LIMIT}`,
    )
  }
  if (!isBetween(intervalMs, 0, INTERVAL_MS_LIMIT)) throw refused('intervalMs', intervalMs, `0 to ${INTERVAL_MS_LIMIT}`)
  if (!isBetween(textLimit, 1, TEXT_COUNT_LIMIT)) throw refused('textLimit', textLimit, `1 to ${TEXT_COUNT_LIMIT}`)
  if (!isBetween(rowLimit, 1, Number.POSITIVE_INFINITY)) throw refused('rowLimit', rowLimit, '1 or more')
  if (!CLOCKS.includes(clock)) throw refused('clock', clock, CLOCKS.join(', '))
  if (typeof emit !== 'function') throw refused('emit', emit, 'a function that takes batches')
  if (acknowledge !== undefined && typeof acknowledge !== 'function') {
    throw refused('acknowledge', acknowledge, 'a function that gives a promise')
  }
  if (ready !== undefined && typeof ready !== 'function')
    throw refused('ready', ready, 'a function that gives a promise')
  if (onLoss !== undefined && typeof onLoss !== 'function') {
    throw refused('onLoss', onLoss, 'a function that takes a reason and a number of records')
  }
  if (types !== undefined && !(Array.isArray(types) && types.every(isType)))
    throw refused('types', types, 'a list of what defineType made')
  if (!isBetween(flushIntervalMs, 0, FLUSH_INTERVAL_MS_LIMIT)) {
    throw refused('flushIntervalMs', flushIntervalMs, `0 to ${FLUSH_INTERVAL_MS_LIMIT}`)
  }
  const frozen = Object.freeze({ ...labels })
  const limits = { bufferBytes, rowLimit, textLimit, flushIntervalMs }
  return { ...options, ...limits, id, tag, labels: frozen, emit, intervalMs, clock }
}

/** A text is never a number here. */
function isBetween(given: unknown, low: number, high: number): boolean {
  return typeof given === 'number' && given >= low && given <= high
}

function refused(option: string, given: unknown, allowed: string, code = 'SRC_OPTION'): SondeError {
  return new SondeError(code, `${option} of a source is ${shown(given)}; allowed: ${allowed}`)
}
