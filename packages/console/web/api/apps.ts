import type { AppGpuAnswer, AppsAnswer, PodAnswer, PodName, PodsAnswer } from '@sonde/sdk/api'
import { useMemo } from 'react'
import { getAnswer } from './client.ts'
import { createPoll, type Resource, usePoll } from './resources.ts'

/** Readers watch a service for minutes, so slow polling is enough. Unit: milliseconds. */
const POLL_EVERY_MS = 5_000

const appsPoll = createPoll(() => getAnswer('/api/v1/apps'), POLL_EVERY_MS)

const podsPoll = createPoll(() => getAnswer('/api/v1/pods'), POLL_EVERY_MS)

/** The GPU pods of all apps, polled every 5 s. */
export function usePods(): Resource<PodsAnswer> {
  return usePoll(podsPoll)
}

/** The apps with GPU pods, polled every 5 s. */
export function useApps(): Resource<AppsAnswer> & { readonly retry: () => void } {
  return { ...usePoll(appsPoll), retry: () => void appsPoll.refresh() }
}

/**
 * The GPUs of an app. With too many services, only the largest are included. The name stays the same as long as the
 * component lives.
 */
export function useAppGpu(app: string): Resource<AppGpuAnswer> & { readonly retry: () => void } {
  const poll = useMemo(
    () => createPoll(() => getAnswer('/api/v1/apps/:app/gpu', { app, largest: 'true' }), POLL_EVERY_MS),
    [app],
  )
  return { ...usePoll(poll), retry: () => void poll.refresh() }
}

/** One pod. Its name stays the same as long as the component lives. */
export function usePod({ namespace, name }: PodName): Resource<PodAnswer> & { readonly retry: () => void } {
  const poll = useMemo(
    () => createPoll(() => getAnswer('/api/v1/pods/:namespace/:pod', { namespace, pod: name }), POLL_EVERY_MS),
    [namespace, name],
  )
  return { ...usePoll(poll), retry: () => void poll.refresh() }
}
