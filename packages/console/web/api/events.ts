import { type EventAnswer, type EventsAnswer, type RouteParameters, routeAddress } from '@sonde/sdk/api'
import { useEffect, useMemo, useRef } from 'react'
import { scopedAddress } from '../state/node-scope.ts'
import { getAnswer } from './client.ts'
import { createPoll, type Poll, type Resource, usePoll } from './resources.ts'

/** Filters of a list of events. An absent filter matches all events. */
export interface EventsRequest {
  readonly rule?: string | undefined
  readonly device?: string | undefined
  readonly state?: 'open' | 'closed' | undefined
  /** Only events that overlap this span. Unit: milliseconds since the epoch. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  readonly limit?: number | undefined
}

/** The address of a list of events. */
export function eventsAddress(request: EventsRequest): string {
  return routeAddress('/api/v1/events', parametersOf(request))
}

function parametersOf({ fromMs, toMs, ...same }: EventsRequest): RouteParameters {
  return { ...same, from: fromMs, to: toMs }
}

/** Polling is slow, because the stream reports changes at once. */
const POLL_EVERY_MS = 10_000
/** Most cached lists. Unused lists are dropped first. */
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

/** A list of events, updated when the stream reports a change and every 10 s. */
export function useEvents(request: EventsRequest): Resource<EventsAnswer> {
  return usePoll(listFor(request))
}

/** A request for the number of open events and the active rules, almost without events. */
export const EVENTS_COUNTED: EventsRequest = { state: 'open', limit: 1 }

const details = new Set<Poll<EventAnswer>>()
/**
 * Polling interval of an event. An open event grows steadily, but the stream reports only its start and end. Unit:
 * milliseconds.
 */
const DETAIL_EVERY_MS = 2_000

/** Filters of the lanes of an event. Empty filters match all lanes. */
export interface LaneRequest {
  /** Words that a lane must contain. */
  readonly find: string
  readonly kind: string
}

/** Address of the file of an event. */
export function eventFileAddress(id: number): string {
  return scopedAddress(routeAddress('/api/v1/events/:id/file', { id }))
}

/**
 * An event with its lanes and marks, polled every 2 s. The previous lanes stay while others load. The id stays the same
 * as long as the component lives.
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
  // A newer answer may already have arrived.
  if (events.nowMs < (store.get().data?.nowMs ?? 0)) return
  store.set({ data: events, error: undefined, failures: 0, failedMs: 0, cameMs: Date.now() })
}

/** Reloads every shown event and filtered list after a change in the stream. */
export function renewEvents(): void {
  for (const [address, poll] of lists) if (poll.users > 0 && address !== eventsAddress({})) void poll.refresh()
  for (const poll of details) if (poll.users > 0) void poll.refresh()
}

/** Reloads everything at once. */
export function retryEvents(): void {
  for (const poll of [...lists.values(), ...details]) if (poll.users > 0) void poll.refresh()
}
