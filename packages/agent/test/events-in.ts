import { hostname } from 'node:os'
import type { IncidentsAnswer, TracebackEvent } from '@sonde/sdk/api'

/** The events of traceback in a list of incidents, with the state of its rules. */
export function eventsIn({ incidents, openCount, traceback }: IncidentsAnswer) {
  const events = incidents.flatMap(({ event }): TracebackEvent[] => (event === undefined ? [] : [event]))
  const { watching: rules, fault: rulesFault, limited } = traceback
  return { events, openCount, rules, rulesFault, limited }
}

/** Requests the events of an agent that match. */
export async function askEvents(address: string, query = '', init: RequestInit = {}) {
  const answer = await fetch(`${address}/api/v1/incidents?kind=event${query === '' ? '' : `&${query}`}`, init)
  return eventsIn((await answer.json()) as IncidentsAnswer)
}

/** The path of an event of this node: with `/lanes`, `/samples` or `/file` behind it. */
export function eventPath(id: number): string {
  return `/api/v1/incidents/${hostname()}:${id}`
}
