import {
  type HintSeverity,
  type IncidentAnswer,
  type IncidentsAnswer,
  type MovedAnswer,
  type PinsAnswer,
  routeAddress,
} from '@sonde/sdk/api'
import { useEffect, useMemo } from 'react'
import { getAnswer, sendChange } from './client.ts'
import { createPoll, type Poll, type Resource, usePoll } from './resources.ts'

/** Filters of a list of incidents. An absent filter matches all incidents. */
export interface IncidentsRequest {
  readonly device?: string | undefined
  readonly rule?: string | undefined
  readonly severity?: HintSeverity | undefined
  readonly kind?: 'hint' | 'event' | undefined
  readonly state?: 'open' | 'ended' | undefined
  readonly find?: string | undefined
  /** Only incidents within this window. Unit: milliseconds since the epoch. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  readonly limit?: number | undefined
}

const EVERY_MS = 5_000
/** A long list is read from the store, and its end rarely changes. Unit: milliseconds. */
const SLOW_EVERY_MS = 10_000
/** Most cached lists. Unused lists are dropped first. */
const LIST_LIMIT_COUNT = 16

const lists = new Map<string, Poll<IncidentsAnswer>>()
const details = new Set<Poll<IncidentAnswer>>()

/** A list of incidents, polled: open ones every 5 s, others every 10 s. */
export function useIncidents(request: IncidentsRequest): Resource<IncidentsAnswer> {
  return usePoll(incidentsPoll(request))
}

/** The poll of a list of incidents. Equal requests share a poll. */
export function incidentsPoll({ fromMs, toMs, ...same }: IncidentsRequest): Poll<IncidentsAnswer> {
  const parameters = { ...same, from: fromMs, to: toMs }
  const address = routeAddress('/api/v1/incidents', parameters)
  let poll = lists.get(address)
  if (poll === undefined) {
    if (lists.size >= LIST_LIMIT_COUNT) for (const [key, one] of lists) if (one.users === 0) lists.delete(key)
    const everyMs = same.state === 'open' ? EVERY_MS : SLOW_EVERY_MS
    poll = createPoll(() => getAnswer('/api/v1/incidents', parameters), everyMs)
    lists.set(address, poll)
  }
  return poll
}

const pinned = createPoll(() => getAnswer('/api/v1/pins', {}), SLOW_EVERY_MS)

/** The pinned incidents, polled every 10 s. */
export function usePins(): Resource<PinsAnswer> {
  return usePoll(pinned)
}

/** The request for the open incidents, which counts, headlines and marks of affected devices share. */
export const OPEN_INCIDENTS: IncidentsRequest = { state: 'open' }

/** The further incidents of a list, behind a cursor. */
export function moreIncidents({ fromMs, toMs, ...same }: IncidentsRequest, cursor: string): Promise<IncidentsAnswer> {
  return getAnswer('/api/v1/incidents', { ...same, from: fromMs, to: toMs, cursor })
}

/** An incident, polled every 5 s. The id stays the same as long as the component lives. */
export function useIncident(id: string): Resource<IncidentAnswer> & { readonly refresh: () => void } {
  const poll = useMemo(() => createPoll(() => getAnswer('/api/v1/incidents/:id', { id }), EVERY_MS), [id])
  useEffect(() => {
    details.add(poll)
    return () => void details.delete(poll)
  }, [poll])
  return { ...usePoll(poll), refresh: () => void poll.refresh() }
}

/** What moved with an incident. It is computed anew every minute, because it takes the server a while. */
const MOVED_EVERY_MS = 60_000

let moved: { readonly id: string; readonly poll: Poll<MovedAnswer> } | undefined

/** The signals that moved when an incident began. The panels of a page share one request. */
export function useMoved(id: string): Resource<MovedAnswer> {
  if (moved?.id !== id)
    moved = { id, poll: createPoll(() => getAnswer('/api/v1/incidents/:id/moved', { id }), MOVED_EVERY_MS) }
  return usePoll(moved.poll)
}

/** Notes that this user saw an incident. Throws `ApiError`. */
export async function acknowledge(id: string): Promise<void> {
  await sendChange('POST', routeAddress('/api/v1/incidents/:id/acknowledge', { id }), {})
  retryIncidents()
}

/** Copies the window of an incident, so that the history does not remove it. Throws `ApiError`. */
export async function pinIncident(id: string): Promise<void> {
  await sendChange('POST', routeAddress('/api/v1/incidents/:id/pin', { id }), {})
  retryIncidents()
}

/** Removes the copy of an incident. Throws `ApiError`. */
export async function unpinIncident(id: string): Promise<void> {
  await sendChange('DELETE', routeAddress('/api/v1/incidents/:id/pin', { id }))
  retryIncidents()
}

/** Adds a note to an incident. Throws `ApiError`. */
export async function addNote(id: string, text: string): Promise<void> {
  await sendChange('POST', routeAddress('/api/v1/incidents/:id/notes', { id }), { text })
  retryIncidents()
}

/** Reloads everything at once. */
export function retryIncidents(): void {
  for (const poll of [...lists.values(), ...details, pinned]) if (poll.users > 0) void poll.refresh()
}
