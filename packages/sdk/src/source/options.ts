import { SondeError, shown } from '../errors.ts'
import type { Batch, Clock } from '../schema/batch.ts'
import { isType, type RecordType } from '../schema/record-type.ts'
import type { Labels } from '../schema/series.ts'
import { faultOfSource } from '../schema/source-rules.ts'
import { TEXT_COUNT } from '../schema/texts.ts'

/** Options of {@link createSource}. */
export interface SourceOptions {
  /** Who reports: a host, a device, a configured source. 1 to 200 characters. */
  id: string
  /** Free text of the owner, at most 4096 characters. Default: empty. */
  tag?: string
  /**
   * Constant labels of every series: at most 256, each a name of letters, digits and `_` with a text of at most 4096
   * characters, and 8192 characters of names and texts together. A service takes no longer labels of a series, those of
   * its record counted too. Default: none.
   */
  labels?: Labels
  /**
   * Where full batches go; their bytes are valid only during the call. Where it throws, that batch is lost, and counted
   * as `failed`. Must not report to the same source.
   */
  emit: (batch: Batch) => void
  /**
   * Resolves once all that was emitted before is acknowledged; what `flush` and `close` of the source wait for.
   * Default: there is nothing to wait for.
   */
  acknowledge?: () => Promise<void>
  /**
   * Resolves when whoever takes batches has room for more; what `ready` of the source waits for. Must not reject.
   * Default: there is always room.
   */
  ready?: () => Promise<void>
  /**
   * The only types that may be reported, by themselves or by their place in this list; a schema gives its own. Default:
   * any type, none by a place.
   */
  types?: readonly RecordType[]
  /**
   * How long records are buffered at most. Unit: milliseconds. Range: 0 (default: until a buffer is full) to 3 600 000.
   */
  flushIntervalMs?: number
  /** Payload bytes kept a type before a batch is emitted. Range: one record to 64 MiB. Default: 60 000. */
  bufferBytes?: number
  /**
   * Clock of the timestamps. Times of another clock than `wall` are kept as they are, and no chart of the agent shows
   * such records: it drops them as `untranslated`. Default: `wall`.
   */
  clock?: Clock
  /**
   * Period at which it samples, so that readers know what a gap is; without one it is seen from the times of records.
   * Unit: milliseconds. Range: 0 (default: no period) to 86 400 000, a day.
   */
  intervalMs?: number
  /**
   * Symbols of labels that are known at a time. With more, the table is replaced by an empty one: no record is lost.
   * Range: 2 to 4 000 000. Default: 65 536.
   */
  symbolLimit?: number
  /**
   * Texts of text fields that are known at a time. With more, or with 4 MiB of them, the table is replaced by an empty
   * one: no record is lost, but a text that comes again is sent again. Range: 1 to 65 536. Default: 32 768.
   */
  textLimit?: number
  /**
   * Called for every record that is dropped, at once; must not throw. Default: the source reports its losses itself, as
   * records of `sonde_loss` whose component is its id, at `flush`, `collect` and `close`: at most once a second, and
   * again every minute.
   */
  onLoss?: (reason: string, records: number) => void
  /** Bound rows a type at most. Default: 100 000. */
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
/** A day: what samples more seldom has no period. */
const INTERVAL_MS_LIMIT = 86_400_000
const FLUSH_INTERVAL_MS_LIMIT = 3_600_000

/**
 * @throws SondeError `SRC_ID`, `SRC_BUFFER_BYTES` or `SRC_OPTION` names the option, what was given and what is allowed.
 */
export function checkOptions(options: SourceOptions): AllOptions {
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

/** Text is no number, whatever it says. */
function isBetween(given: unknown, low: number, high: number): boolean {
  return typeof given === 'number' && given >= low && given <= high
}

function refused(option: string, given: unknown, allowed: string, code = 'SRC_OPTION'): SondeError {
  return new SondeError(code, `${option} of a source is ${shown(given)}; allowed: ${allowed}`)
}
