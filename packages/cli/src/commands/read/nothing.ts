import { closest } from '@sonde/sdk/config'
import { countOf, printable } from '@sonde/sdk/internal'
import type { ReadOptions } from './options.ts'
import { tell } from './output.ts'
import { fits, type Selection } from './select.ts'
import { timeText } from './table.ts'

/** Names that are told; of more it is said how many there are. */
const NAMES_LIMIT = 100

/** What came by on the way to the records that are wanted: of each filter what the ones before it let pass. */
export interface Seen {
  readonly sources: Set<string>
  readonly tags: Set<string>
  /** As `name=value`. */
  readonly labels: Set<string>
  readonly types: Set<string>
  /** Types of which a field is wanted. */
  readonly typesWithFields: Set<string>
  /** Of the first and the last record that have a time of the wall clock. Unit: nanoseconds. */
  fromNs?: bigint
  toNs?: bigint
}

/** Says how many records no filter could judge, and where nothing was printed which filter lets nothing pass. */
export function reportLeftOut({ withoutTime, seen }: Selection, options: ReadOptions, isNothing: boolean): void {
  if (withoutTime > 0) tell(`${countOf(withoutTime, 'record')} left out: no time of the wall clock to compare`)
  const note = isNothing ? nothingFits(seen, options) : undefined
  if (note !== undefined) tell(note)
}

/** Which filter fits nothing of what was seen, and what there is instead; undefined if no filter is at fault. */
export function nothingFits(
  { sources, tags, labels, types, typesWithFields, fromNs, toNs }: Seen,
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

/** Names out of files, of which nothing is more to a terminal than text. An empty one is `""`. */
function listed(names: readonly string[]): string {
  const shown = names
    .toSorted()
    .slice(0, NAMES_LIMIT)
    .map((name) => (name === '' ? '""' : printable(name)))
  const more = names.length > NAMES_LIMIT ? ` and ${names.length - NAMES_LIMIT} more` : ''
  return `${shown.join(', ')}${more}`
}
