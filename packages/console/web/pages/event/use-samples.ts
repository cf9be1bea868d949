import type { EventAnswer } from '@sonde/sdk/api'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { ApiError } from '../../api/client.ts'
import { getSamples } from '../../api/event-samples.ts'
import { createValueStore, type ValueStore } from '../../state/value-store.ts'
import { SampleCache } from './sample-cache.ts'
import type { EventView } from './use-event-view.ts'

/** Rest time before a moved view is requested. Unit: milliseconds. */
const REST_MS = 120

/** The samples of the event on the page. */
export interface ShownSamples {
  readonly cache: SampleCache
  /** Rises with every answer. */
  readonly revision: ValueStore<number>
  readonly error: ApiError | undefined
  readonly retry: () => void
  /** Reports whether a lane is on the screen or close to it. */
  readonly setSeen: (key: string, isSeen: boolean) => void
}

/** Requests the samples of all lanes over the window, and of visible lanes over the view. */
export function useSamples({ node, event, lanes }: EventAnswer, view: EventView, widthPx: number): ShownSamples {
  const { stage, bounds } = view
  const [error, setError] = useState<ApiError>()
  const [revision] = useState(() => createValueStore(0))
  const seen = useRef(new Set<string>())
  const latest = useRef(lanes)
  latest.current = lanes
  const cache = useMemo(
    () =>
      new SampleCache(`${node}:${event.id}`, getSamples, {
        onSamples: () => {
          revision.set(revision.get() + 1)
          stage.paintSoon()
        },
        onError: setError,
      }),
    [node, event.id, stage, revision],
  )
  const [attempt, setAttempt] = useState(0)
  const keys = lanes.map(({ key }) => key).join('\n')
  const { fromMs, toMs } = bounds
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new attempt repeats the request
  useEffect(() => {
    if (widthPx > 0) void cache.loadWhole(keys === '' ? [] : keys.split('\n'), { fromMs, toMs }, widthPx)
  }, [cache, keys, fromMs, toMs, widthPx, attempt])
  const loading = useMemo(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const soon = (): void => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        const shown = stage.view.get()
        // The whole window is requested anyway.
        if (shown.fromMs === fromMs && shown.toMs === toMs) return
        if (widthPx > 0)
          void cache.loadPart(
            latest.current.flatMap(({ key }) => (seen.current.has(key) ? [key] : [])),
            shown,
            { fromMs, toMs },
            widthPx,
          )
      }, REST_MS)
    }
    return { soon, stop: () => clearTimeout(timer) }
  }, [cache, stage, fromMs, toMs, widthPx])
  useEffect(() => {
    loading.soon()
    const unsubscribes = [stage.view.subscribe(loading.soon), revision.subscribe(loading.soon)]
    return () => {
      for (const unsubscribe of unsubscribes) unsubscribe()
      loading.stop()
    }
  }, [stage, revision, loading])
  return useMemo(
    () => ({
      cache,
      revision,
      error,
      retry: () => setAttempt((before) => before + 1),
      setSeen: (key, isSeen) => {
        if (isSeen) seen.current.add(key)
        else seen.current.delete(key)
        if (isSeen) loading.soon()
      },
    }),
    [cache, revision, error, loading],
  )
}
