import type { AppGpuAnswer, AppsAnswer } from '@sonde/sdk/api'
import { useMemo } from 'react'
import { getAnswer } from './client.ts'
import { createPoll, type Resource, usePoll } from './resources.ts'

/** Numbers change with each sample of GPUs; who looks at a service does so for minutes. Unit: milliseconds. */
const POLL_EVERY_MS = 5_000

const appsPoll = createPoll(() => getAnswer('/api/v1/apps'), POLL_EVERY_MS)

/** The apps that have GPU pods, renewed every 5 s. */
export function useApps(): Resource<AppsAnswer> & { readonly retry: () => void } {
  return { ...usePoll(appsPoll), retry: () => void appsPoll.refresh() }
}

/** The GPUs of one app, of the largest services where there are too many. The name stays as long as the component. */
export function useAppGpu(app: string): Resource<AppGpuAnswer> & { readonly retry: () => void } {
  const poll = useMemo(
    () => createPoll(() => getAnswer('/api/v1/apps/:app/gpu', { app, largest: 'true' }), POLL_EVERY_MS),
    [app],
  )
  return { ...usePoll(poll), retry: () => void poll.refresh() }
}
