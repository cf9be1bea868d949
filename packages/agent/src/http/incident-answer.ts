import { SondeError } from '@sonde/sdk'
import type { Incident, IncidentAnswer, IncidentNote } from '@sonde/sdk/api'
import type { Agent } from '../agent.ts'
import { RULES } from '../hints/hints.ts'
import { incidentWindow } from '../incidents/incidents.ts'

/** Longest name in a sentence. Unit: characters. */
const NAME_CHARS = 100
/** Devices that stand for a whole node. */
const NODES = ['node', 'sim-node']

/**
 * An incident with its window and notes. If the history has removed its records, it is shown as it was pinned.
 * @throws SondeError `INC_UNKNOWN` if there is none.
 */
export async function incidentAnswer(agent: Agent, id: string): Promise<IncidentAnswer> {
  const { incidentNotes: notes } = agent
  // Without the store, notes of earlier lives are missing.
  await notes.opened().catch(() => undefined)
  const answer = await foundAnswer(agent, id)
  const own = answer.incident.id
  const acknowledged = notes.acknowledgedBy(own) ?? answer.incident.acknowledged
  const incident = { ...answer.incident, ...(acknowledged === undefined ? {} : { acknowledged }) }
  const gone = [...(answer.gone ?? []), ...goneParts(agent, incident)]
  return {
    ...{ ...answer, incident, notes: joinedNotes(answer.notes, notes.notesOf(own)) },
    ...(gone.length === 0 ? {} : { gone }),
  }
}

async function foundAnswer(agent: Agent, id: string): Promise<IncidentAnswer> {
  const { incidents, incidentPins: pins } = agent
  const nowMs = Date.now()
  try {
    const found = await incidents.get(id)
    const pinned = await pins.get(found.incident.id)
    const window = incidentWindow(found.incident, nowMs)
    const unknown = await agent.hintHistory.unknownIn(window)
    return {
      ...{ nowMs, ...found, window, notes: [] },
      ...(pinned === undefined ? {} : { pin: pinned.pin }),
      ...(unknown.length === 0 ? {} : { unknown }),
    }
  } catch (error) {
    if (!(error instanceof SondeError && error.code === 'INC_UNKNOWN')) throw error
    const pinned = await pins.find(id)
    if (pinned === undefined) throw error
    return { ...pinned, nowMs, gone: ['The history has removed its records: it is shown as it was pinned.'] }
  }
}

/** What the node no longer has of an incident, as sentences. */
function goneParts({ devices, rules }: Agent, { kind, rule, device, isSimulated }: Incident): string[] {
  const gone: string[] = []
  const named = (name: string) => (name.length > NAME_CHARS ? `${name.slice(0, NAME_CHARS)}…` : name)
  const isThere = device === '' || NODES.includes(device) || devices.list().some(({ id }) => id === device)
  // Events may name series of applications, which are no devices.
  if (kind === 'hint' && !isThere) {
    const why = isSimulated ? 'the simulated node does not run or has another form' : 'no source reports it any more'
    gone.push(`The device ${named(device)} is gone: ${why}.`)
  }
  if (kind === 'hint' && !RULES.some(({ name }) => name === rule))
    gone.push(`The rule ${named(rule)} is gone: it is of another version of Sonde.`)
  if (kind === 'event' && rules?.book !== undefined && !rules.book.rules.some(({ name }) => name === rule))
    gone.push(`The rule ${named(rule)} is gone: the file of rules does not have it any more.`)
  return gone
}

/** Notes of a pin and those in the history, each once, the earliest first. */
function joinedNotes(pinned: readonly IncidentNote[], kept: readonly IncidentNote[]): IncidentNote[] {
  const all = [...pinned, ...kept].map((note) => [`${note.atMs} ${note.who} ${note.text}`, note] as const)
  return [...new Map(all).values()].sort((a, b) => a.atMs - b.atMs)
}
