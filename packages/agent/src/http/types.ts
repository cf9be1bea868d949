import { SondeError } from '@sonde/sdk'
import { describeType, shellWord, type TypeDescription, turn, within } from '@sonde/sdk/internal'
import type { FastifyInstance } from 'fastify'
import type { Agent } from '../agent.ts'
import type { KeptRecords } from '../pipeline/kept-records.ts'
import { compress } from './compress.ts'

/** A longer list leaves types out, and says how many. Unit: characters of JSON. */
const LIST_LENGTH_LIMIT = 4 << 20
/** How long the list waits for the store; then it has the types of the last minutes alone. Unit: milliseconds. */
const STORE_LIMIT_MS = 1000

/** `GET /api/v1/types`: the types of the last minutes, then those of which only the store has records. */
export function typesRoute(app: FastifyInstance, agent: Agent): void {
  app.get('/api/v1/types', { onSend: compress }, async (_request, reply) => {
    const list = await listTypes(agent)
    return reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(list)
  })
}

async function listTypes({ recent, options: { kept } }: Agent): Promise<string> {
  const liveTypes = recent.types()
  const stored = await storedTypes(
    kept,
    liveTypes.map(({ name }) => name),
  )
  const listed: string[] = []
  let { leftOut } = stored
  let length = 0
  const add = (type: TypeDescription, live: boolean): void => {
    const read = kept === undefined ? '' : `${kept.command} --type ${shellWord(type.name)}`
    const json = JSON.stringify({ ...type, live, read })
    length += json.length
    if (length > LIST_LENGTH_LIMIT) leftOut++
    else listed.push(json)
  }
  for (const type of liveTypes) {
    if (turn.isOver()) await turn.next()
    add(describeType(type), true)
  }
  for (const type of stored.types) {
    if (turn.isOver()) await turn.next()
    add(type, false)
  }
  return `{"types":[${listed.join()}],"leftOut":${leftOut}}`
}

/** None where the store does not answer: its state is told by `/api/v1/node`. */
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
