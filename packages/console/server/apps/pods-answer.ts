import type { PodsAnswer } from '@sonde/sdk/api'
import type { AppsOrigin } from './origin.ts'
import { anyAsks, podsNow } from './pods.ts'
import { appNames, servicesBySize } from './ranking.ts'
import { stateFacts, stateOf } from './state.ts'
import { totalsOf } from './totals.ts'

/** The GPU pods of all apps, or of one app, from any history, with a reason for every missing number. */
export async function podsAnswer(origin: AppsOrigin, app?: string): Promise<PodsAnswer> {
  const { history, readsRequests } = origin
  const { nowMs, pods, shared } = await podsNow(origin, { app })
  const knowsRequests = readsRequests?.() === true || (pods.length === 0 && (await anyAsks(history)))
  const isUnknown = app !== undefined && pods.length === 0
  return {
    nowMs,
    ...stateOf(app ?? 'any app', pods, await stateFacts(origin), knowsRequests),
    pods: pods.map(({ key: _, ...pod }) => pod),
    totals: totalsOf(pods, shared),
    otherApps: isUnknown ? appNames(await servicesBySize(history)) : [],
  }
}
