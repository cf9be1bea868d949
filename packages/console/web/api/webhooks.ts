import type { WebhookDeliveriesAnswer, WebhookDelivery, WebhooksAnswer, WebhookTestAnswer } from '@sonde/sdk/api'
import { getAnswer, sendChange } from './client.ts'
import { createPoll, type Resource, usePoll } from './resources.ts'

const LISTED_COUNT = 50

const receiversPoll = createPoll(() => getAnswer('/api/v1/webhooks'), 5_000)
const deliveriesPoll = createPoll(() => getAnswer('/api/v1/webhooks/deliveries', { limit: LISTED_COUNT }), 5_000)

/** The receivers of webhooks, renewed every 5 s. */
export function useWebhooks(): Resource<WebhooksAnswer> {
  return usePoll(receiversPoll)
}

/** The last deliveries, renewed every 5 s. */
export function useDeliveries(): Resource<WebhookDeliveriesAnswer> {
  return usePoll(deliveriesPoll)
}

/** Sends a test to a receiver and waits for its answer. Throws `ApiError`. */
export async function testWebhook(receiver: string): Promise<WebhookDelivery | undefined> {
  try {
    const answer = await sendChange<WebhookTestAnswer>('POST', '/api/v1/webhooks/test', { receiver })
    return answer?.deliveries[0]
  } finally {
    await Promise.all([receiversPoll.refresh(), deliveriesPoll.refresh()])
  }
}
