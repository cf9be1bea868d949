import { type EventAnswer, routeAddress } from '@sonde/sdk/api'
import { useMemo, useRef } from 'react'
import { getAnswer } from './client.ts'
import { createPoll, type Resource, usePoll } from './resources.ts'

/**
 * Polling interval of an event. An open event grows steadily, so it is read often. Unit: milliseconds.
 */
const DETAIL_EVERY_MS = 2_000

/** Filters of the lanes of an event. Empty filters match all lanes. */
export interface LaneRequest {
  /** Words that a lane must contain. */
  readonly find: string
  readonly kind: string
}

/** Address of the file of an event. */
export function eventFileAddress(node: string, id: number): string {
  return routeAddress('/api/v1/incidents/:id/file', { id: `${node}:${id}` })
}

/**
 * An event with its lanes and marks, polled every 2 s. The previous lanes stay while others load. The id stays the same
 * as long as the component lives.
 */
export function useEvent(id: string, request: LaneRequest): Resource<EventAnswer> & { readonly refresh: () => void } {
  const find = request.find.trim()
  const { kind } = request
  const poll = useMemo(
    () => createPoll(() => getAnswer('/api/v1/incidents/:id/lanes', { id, find, kind }), DETAIL_EVERY_MS),
    [id, find, kind],
  )
  const resource = usePoll(poll)
  const last = useRef<EventAnswer>(undefined)
  last.current = resource.data ?? last.current
  return { ...resource, data: last.current, refresh: () => void poll.refresh() }
}
