import type { WebhookDeliveriesAnswer, WebhookDelivery } from '@sonde/sdk/api'
import type { Delivery } from './delivery.ts'

/** Deliveries that are kept for queries. Policy: the oldest make room. */
const KEPT_MAX = 1000

/** Conditions for a list of deliveries. */
export interface DeliveryFilter {
  readonly receiver?: string
  readonly state?: WebhookDelivery['state']
  readonly type?: string
  readonly limit: number
}

/** The last deliveries, for queries. */
export class DeliveryList {
  readonly #kept: Delivery[] = []
  #forgotten = 0

  add(delivery: Delivery): void {
    this.#kept.push(delivery)
    if (this.#kept.length <= KEPT_MAX) return
    this.#kept.shift()
    this.#forgotten++
  }

  list({ receiver, state, type, limit }: DeliveryFilter): WebhookDeliveriesAnswer {
    const told = this.#kept.map((delivery) => delivery.told()).reverse()
    const matching = told.filter(
      (one) =>
        (receiver === undefined || one.receiver === receiver) &&
        (state === undefined || one.state === state) &&
        (type === undefined || one.type === type),
    )
    const deliveries = matching.slice(0, limit)
    const leftOut = matching.length - deliveries.length
    return { nowMs: Date.now(), deliveries, leftOut, forgotten: this.#forgotten }
  }
}
