import type { TroubleshootingAnswer } from '@sonde/sdk/api'
import { getAnswer } from './client.ts'
import { createPoll, type Poll, type Resource, usePoll } from './resources.ts'

/** Hops are walked, which may wait for a driver. Unit: milliseconds. */
const EVERY_MS = 10_000

const polls = new Map<string, Poll<TroubleshootingAnswer>>()

/** Each hop of the numbers of GPUs for a reader, renewed every 10 s. Without a choice the server decides. */
export function useTroubleshooting(
  exporter = '',
  program = '',
): Resource<TroubleshootingAnswer> & { readonly retry: () => void } {
  const key = `${exporter} ${program}`
  let poll = polls.get(key)
  if (poll === undefined) {
    poll = createPoll(() => getAnswer('/api/v1/troubleshooting', { exporter, program }), EVERY_MS)
    polls.set(key, poll)
  }
  const { refresh } = poll
  return { ...usePoll(poll), retry: () => void refresh() }
}
