import * as v from 'valibot'
import { boundedText, choice, flag, integer, list, pattern, setting } from '../config/kit.ts'
import { snakeOf } from '../config/spelling.ts'
import { messageOf } from '../errors.ts'
import { inlineSet } from '../fieldset/inline-set.ts'
import type { LabelOptions } from '../fieldset/label-changes.ts'
import { FIELD_CLASSES, type FieldClass } from '../schema/field.ts'
import { labelsEntry } from './label-entries.ts'

const LINE_LIMIT = 4096
const FILTER_LIMIT = 64
const INTERVAL_S_MAX = 3600

/** Keys that every destination has: they belong to the way to it. */
export interface CommonOptions {
  /**
   * Name in statistics and messages: letters, digits, `_`, `-` and `.`, at most 64. Default: the kind; in a list from
   * the second on with its place, `jsonl_2`.
   */
  readonly name?: string
  /** Whether it is used. Default: true. */
  readonly enabled?: boolean
  /**
   * The fields of the destination: the name of a `.cset` or `.fset`, or its lines; lines from the first section such as
   * `[port]` on are a `.fset`, lines before it a `.cset`. Time and labels are always included. Default: all fields.
   */
  readonly fieldSet?: string | readonly string[]
  /**
   * `core`: of these fields, only those of class `core`, which alerts, dashboards and pages of a cluster need. `full`:
   * all of them. Default: `full`; for remote write in an agent `core`.
   */
  readonly set?: FieldClass
  /**
   * Of each series, only the last record of each interval is sent; events are always sent. No flush and no
   * acknowledgement waits then. Unit: seconds. Range: 0 to 3600. Default: 0, every record; for remote
   * write in an agent 15.
   */
  readonly intervalS?: number
  /**
   * Changes of labels, in this order: `drop` (names), `rename` (new names by old), `add` (values by name, for sources
   * without that label). At most 64 of each. Default: none.
   */
  readonly labels?: LabelOptions
  /** The sources of the destination, by name: `*` and `?` as in a shell, `!` excludes. At most 64. Default: all. */
  readonly sources?: readonly string[]
  /**
   * Tags of the sources of the destination; `counters` means all sources without a tag, and a name one of these. At
   * most 64. Default: all.
   */
  readonly tags?: readonly string[]
  /** Whether `flush` of a program waits for it. Default: true. */
  readonly acknowledges?: boolean
}

const FIELD_SET_WORDS = 'the name of a field set, or the lines of one'

/** How much of the records a destination is given. */
export type Rate = Pick<CommonOptions, 'set' | 'intervalS'>

function rateEntries({ set = 'full', intervalS = 0 }: Rate) {
  return {
    set: setting(
      choice(FIELD_CLASSES),
      set,
      'Fields of which class it is given: `core` only those that alerts, dashboards and pages of a cluster need; see [sets](destinations.md#sets-and-intervals). `remote_write` of an agent: `core`',
    ),
    intervalS: setting(
      integer(0, INTERVAL_S_MAX, 'seconds'),
      intervalS,
      'Of each series, only the last record of each interval is sent; 0 sends every record. Events are always sent. Unit: seconds. `remote_write` of an agent: 15',
    ),
  }
}

/** Those keys as schema entries. */
export const commonEntries = {
  name: v.optional(
    v.pipe(
      pattern(/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/, 'a name of letters, digits, _, - and ., at most 64'),
      v.description(
        'Name in pages, logs and metrics; no two destinations have the same. Default: the kind; in a list from the second on with its place, such as `jsonl_2`',
      ),
    ),
  ),
  enabled: setting(flag(), true, 'Whether it is used'),
  fieldSet: v.optional(
    v.pipe(
      v.union(
        [
          pattern(/^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$/, FIELD_SET_WORDS),
          v.pipe(list(boundedText(0, 1024), LINE_LIMIT, 'lines'), v.rawCheck(checkLines)),
        ],
        FIELD_SET_WORDS,
      ),
      v.description(
        'Fields that it is given: the name of a [field set](prometheus.md#filters), or a list of the lines of one; time and labels come along. Default: all',
      ),
    ),
  ),
  ...rateEntries({}),
  labels: labelsEntry,
  sources: setting(
    list(pattern(/^!?[^!].{0,199}$/, 'a name or pattern such as nic, gpu* or !self'), FILTER_LIMIT, 'patterns'),
    [],
    'Names of the sources that it is given, `*` and `?` as in a shell; `!` first leaves sources out. Empty: all',
  ),
  tags: setting(
    list(boundedText(1, 200), FILTER_LIMIT, 'tags'),
    [],
    'Tags of the applications that it is given; `counters` stands for sources without a tag, such as all sources of an agent, and a name for one of them. Empty: all',
  ),
  acknowledges: v.optional(
    v.pipe(
      flag(),
      v.description(
        'Whether an acknowledgement waits for it; see [delivery](delivery.md#acknowledged). Default: `true` where records that it has survive a crash',
      ),
    ),
  ),
}

/** The same with other defaults for `set` and `intervalS`. */
export function commonEntriesWith(rate: Rate) {
  return { ...commonEntries, ...rateEntries(rate) }
}

/** The keys that belong to all kinds, as files have them. */
export const COMMON_KEYS: readonly string[] = Object.keys(commonEntries).map(snakeOf)

function checkLines({ dataset, addIssue }: v.RawCheckContext<string[]>): void {
  if (!dataset.typed) return
  try {
    inlineSet(dataset.value)
  } catch (error) {
    addIssue({ message: `the lines of a field set; ${messageOf(error)}` })
  }
}
