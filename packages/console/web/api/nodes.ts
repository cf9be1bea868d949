import type { NodesAnswer } from '@sonde/sdk/api'
import { getAnswer } from './client.ts'
import { createPoll, type Resource, usePoll } from './resources.ts'

const nodesPoll = createPoll(() => getAnswer('/api/v1/nodes'), 2_000)

/** The nodes of a console, renewed every 2 s. */
export function useNodes(): Resource<NodesAnswer> {
  return usePoll(nodesPoll)
}

/** Asks for the nodes now. */
export function retryNodes(): void {
  void nodesPoll.refresh()
}
