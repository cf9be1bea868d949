import type { EventAnswer, EventsAnswer } from '@sonde/sdk/api'
import { useEffect, useMemo, useRef } from 'react'
import { getAnswer, type RouteParameters, requestAddress } from './client.ts'
import { createPoll, type Poll, type Resource, usePoll } from './resources.ts'

/** Which events are asked for; everything that is absent matches all. */
export interface EventsRequest {
  readonly rule?: string | undefined
  readonly device?: string | undefined
  readonly state?: 'open' | 'closed' | undefined
  /** Events that touch this stretch. Unit: milliseconds since the epoch. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  readonly limit?: number | undefined
}

/** The address of a list of events. */
export function eventsAddress(request: EventsRequest): string {
  return requestAddress('/api/v1/events', parametersOf(request))
}

function parametersOf({ fromMs, toMs, ...same }: EventsRequest): RouteParameters {
  return { ...same, from: fromMs, to: toMs }
}

/** Slow: changes come by the stream, at once. */
const POLL_EVERY_MS = 10_000
/** Most different lists that are kept; unused ones go first. */
const LIST_LIMIT_COUNT = 16

const lists = new Map<string, Poll<EventsAnswer>>()

function listFor(request: EventsRequest): Poll<EventsAnswer> {
  const address = eventsAddress(request)
  const existing = lists.get(address)
  if (existing) return existing
  if (lists.size >= LIST_LIMIT_COUNT) {
    for (const [key, poll] of lists) if (poll.users === 0) lists.delete(key)
  }
  const poll = createPoll(() => getAnswer('/api/v1/events', parametersOf(request)), POLL_EVERY_MS)
  lists.set(address, poll)
  return poll
}

/** A list of events, renewed when the stream says that one changed, and every 10 s. */
export function useEvents(request: EventsRequest): Resource<EventsAnswer> {
  return usePoll(listFor(request))
}

/** How many events are open and which rules watch: an answer without any event. */
export const EVENTS_COUNTED: EventsRequest = { state: 'open', limit: 1 }

const details = new Set<Poll<EventAnswer>>()
/** An open event grows all the time; the stream tells of its beginning and end alone. Unit: milliseconds. */
const DETAIL_EVERY_MS = 2_000

/** Which lanes of an event are asked for; all where it is empty. */
export interface LaneRequest {
  /** Words that a lane holds all of. */
  readonly find: string
  readonly kind: string
}

/** Address of the file of an event. */
export function eventFileAddress(id: number): string {
  return requestAddress('/api/v1/events/:id/file', { id })
}

/**
 * One event with its lanes and marks, renewed every 2 s. While other lanes are awaited, those before stay. The id stays
 * the same as long as the component lives.
 */
export function useEvent(id: string, request: LaneRequest): Resource<EventAnswer> & { readonly refresh: () => void } {
  const find = request.find.trim()
  const { kind } = request
  const poll = useMemo(
    () => createPoll(() => getAnswer('/api/v1/events/:id', { id, find, kind }), DETAIL_EVERY_MS),
    [id, find, kind],
  )
  useEffect(() => {
    details.add(poll)
    return () => void details.delete(poll)
  }, [poll])
  const resource = usePoll(poll)
  const last = useRef<EventAnswer>(undefined)
  last.current = resource.data ?? last.current
  return { ...resource, data: last.current, refresh: () => void poll.refresh() }
}

/** Takes the list of all events from the stream. */
export function takeEvents(events: EventsAnswer): void {
  const { store } = listFor({})
  // An answer that was asked for later may have come before.
  if (events.nowMs < (store.get().data?.nowMs ?? 0)) return
  store.set({ data: events, error: undefined, failures: 0, failedMs: 0, cameMs: Date.now() })
}

/** Asks again for every event and filtered list that is shown: the stream said that something changed. */
export function renewEvents(): void {
  for (const [address, poll] of lists) if (poll.users > 0 && address !== eventsAddress({})) void poll.refresh()
  for (const poll of details) if (poll.users > 0) void poll.refresh()
}

/** Asks again for everything at once. */
export function retryEvents(): void {
  for (const poll of [...lists.values(), ...details]) if (poll.users > 0) void poll.refresh()
}
