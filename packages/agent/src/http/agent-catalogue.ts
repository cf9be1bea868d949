import { SondeError } from '@sonde/sdk'
import {
  type Catalogue,
  describeType,
  type ListedType,
  shellWord,
  type TypeDescription,
  within,
} from '@sonde/sdk/internal'
import type { Agent } from '../agent.ts'
import type { KeptRecords } from '../pipeline/kept-records.ts'
import { latestSeries } from '../pipeline/latest.ts'

/** How long the list waits for the store; then it has the types of the last minutes alone. Unit: milliseconds. */
const STORE_LIMIT_MS = 1000

/** The types of an agent: those of the last minutes, then those with records only in the store. */
export function agentCatalogue({ recent, options: { kept } }: Agent): Catalogue {
  return {
    async types() {
      const live = recent.types()
      const names = live.map(({ name }) => name)
      const { types, leftOut } = await storedTypes(kept, names)
      return { types: listed(live.values().map(describeType), types, kept), leftOut }
    },
    series: async (wanted) => latestSeries(recent, wanted),
  }
}

function* listed(
  live: Iterable<TypeDescription>,
  stored: readonly TypeDescription[],
  kept: KeptRecords | undefined,
): Generator<ListedType> {
  const readOf = ({ name }: TypeDescription) => (kept === undefined ? '' : `${kept.command} --type ${shellWord(name)}`)
  for (const type of live) yield { ...type, live: true, read: readOf(type) }
  for (const type of stored) yield { ...type, live: false, read: readOf(type) }
}

/** None if the store does not answer: its state is told by `/api/v1/node`. */
async function storedTypes(kept: KeptRecords | undefined, except: readonly string[]) {
  let stored: Awaited<ReturnType<KeptRecords['types']>> = { types: [], leftOut: 0 }
  const asked = kept?.types(except).then(
    (answer) => {
      stored = answer
    },
    (error: unknown) => {
      if (!(error instanceof SondeError)) throw error
    },
  )
  await within(STORE_LIMIT_MS, Promise.resolve(asked))
  return stored
}
