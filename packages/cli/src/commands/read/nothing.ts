import { closest } from '@sonde/sdk/config'
import { countOf, printable } from '@sonde/sdk/internal'
import type { ReadOptions } from './options.ts'
import { tell } from './output.ts'
import { fits, type Selection } from './select.ts'
import { timeText } from './table.ts'

/** Number of names that are listed; the rest is counted. */
const NAMES_LIMIT = 100

/** The records that passed by. Each set holds what the filters before it let pass. */
export interface MatchedNames {
  readonly sources: Set<string>
  readonly tags: Set<string>
  /** In the form `name=value`. */
  readonly labels: Set<string>
  readonly types: Set<string>
  /** Types with a selected field. */
  readonly typesWithFields: Set<string>
  /** Times of the first and the last record with a wall-clock time. Unit: nanoseconds. */
  fromNs?: bigint
  toNs?: bigint
}

/** Reports how many records no filter could judge. If nothing was printed, it names the filter that matches nothing. */
export function reportLeftOut({ withoutTime, seen }: Selection, options: ReadOptions, isNothing: boolean): void {
  if (withoutTime > 0) tell(`${countOf(withoutTime, 'record')} left out: no time of the wall clock to compare`)
  const note = isNothing ? nothingFits(seen, options) : undefined
  if (note !== undefined) tell(note)
}

/** The filter that matches nothing, and the values that exist instead; undefined if no filter is at fault. */
export function nothingFits(
  { sources, tags, labels, types, typesWithFields, fromNs, toNs }: MatchedNames,
  wanted: Pick<ReadOptions, 'sources' | 'tags' | 'labels' | 'types' | 'startNs' | 'endNs'>,
): string | undefined {
  const { startNs, endNs } = wanted
  const named =
    unfit('--source', wanted.sources, sources) ??
    unfit('--tag', wanted.tags, tags) ??
    unfit('--label', wanted.labels, labels) ??
    unfit('--type', wanted.types, types)
  if (named !== undefined) return named
  if (typesWithFields.size === 0 && types.size > 0) {
    return `--fset and --cset let no field pass of the types that there are: ${listed([...types].filter((type) => fits(type, wanted.types)))}`
  }
  if (fromNs === undefined || toNs === undefined || (startNs === undefined && endNs === undefined)) return undefined
  const there = `there are records from ${timeText(fromNs)} to ${timeText(toNs)}`
  if (startNs !== undefined && endNs !== undefined && startNs >= endNs) return `--start is not before --end; ${there}`
  const start = startNs === undefined ? [] : [`--start ${timeText(startNs)}`]
  const end = endNs === undefined ? [] : [`--end ${timeText(endNs)}`]
  return `${[...start, ...end].join(' ')} fits nothing; ${there}`
}

function unfit(option: string, given: readonly string[], there: ReadonlySet<string>): string | undefined {
  if (there.size === 0 || [...there].some((name) => fits(name, given))) return undefined
  const [only = ''] = given
  const meant = given.length === 1 ? closest(only, [...there]) : undefined
  const hint = meant === undefined ? '' : ` (did you mean ${printable(meant)}?)`
  return `${option} ${listed(given)} fits nothing${hint}; there is: ${listed([...there])}`
}

/** Names from files, escaped so that a terminal treats them as text. An empty name is `""`. */
function listed(names: readonly string[]): string {
  const shown = names
    .toSorted()
    .slice(0, NAMES_LIMIT)
    .map((name) => (name === '' ? '""' : printable(name)))
  const more = names.length > NAMES_LIMIT ? ` and ${names.length - NAMES_LIMIT} more` : ''
  return `${shown.join(', ')}${more}`
}
