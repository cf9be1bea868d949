import * as v from 'valibot'
import { block, list, setting } from '../config/kit.ts'

const COUNT_LIMIT = 64
/** Only Sonde gives the label `simulated`. */
const NAME = /^(?!__|simulated$)[a-zA-Z_][a-zA-Z0-9_]{0,127}$/
const NAME_WORDS = 'a name of letters, digits and _, at most 128, no __ first, and not simulated'
const ADD_WORDS = `at most ${COUNT_LIMIT} texts of up to 1024 characters by name, such as { cluster: a }; a name: ${NAME_WORDS}`
const RENAME_WORDS = `at most ${COUNT_LIMIT} new names by old names, such as { device: port }; a name: ${NAME_WORDS}`

function name(words: string) {
  return v.pipe(v.string(words), v.regex(NAME, words))
}

function byName<S extends v.GenericSchema<string, string>>(value: S, words: string) {
  return v.pipe(
    v.record(name(words), value, words),
    v.check((given) => Object.keys(given).length <= COUNT_LIMIT, words),
  )
}

const entries = {
  add: setting(
    byName(v.pipe(v.string(ADD_WORDS), v.minLength(1, ADD_WORDS), v.maxLength(1024, ADD_WORDS)), ADD_WORDS),
    {},
    'Labels for every source without a label of that name',
  ),
  rename: setting(
    byName(name(RENAME_WORDS), RENAME_WORDS),
    {},
    'New names of labels, by their old names. Where the new name exists already, the old name stays, and the destination says so',
  ),
  drop: setting(
    list(name(NAME_WORDS), COUNT_LIMIT, 'names'),
    [],
    'Names of labels that are left out; records that differ only in them are then one series',
  ),
}

type Labels = v.InferOutput<v.StrictObjectSchema<typeof entries, undefined>>

/** The schema entry of the changes of labels. */
export const labelsEntry = v.nullish(v.pipe(block(entries), v.rawCheck(checkChanges)), {})

/** Changes that contradict each other whatever labels records have. */
function checkChanges({ dataset, addIssue }: v.RawCheckContext<Labels>): void {
  if (!dataset.typed) return
  const { add, rename, drop } = dataset.value
  const taken = new Set(Object.keys(add))
  for (const [old, renamed] of Object.entries(rename)) {
    if (taken.has(renamed)) addIssue({ message: `one label of the name ${renamed}` })
    if (drop.includes(old)) addIssue({ message: `${old} in drop or in rename` })
    taken.add(renamed)
  }
}
