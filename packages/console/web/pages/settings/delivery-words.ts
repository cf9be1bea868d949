import type { WebhookDelivery } from '@sonde/sdk/api'
import type { StateTone } from '../../components/state-mark.tsx'

/** Icon and words of a delivery: its state, then the answer or the reason. */
export function deliveryMark({ state, status, error = '', reason = '' }: WebhookDelivery): {
  readonly tone: StateTone
  readonly word: string
} {
  if (state === 'waiting') return { tone: 'info', word: status === 0 ? 'Waiting' : `Waiting, after status ${status}` }
  if (state === 'succeeded') return { tone: 'ok', word: `Delivered, status ${status}` }
  const why = status > 0 ? `status ${status}` : error
  return { tone: 'critical', word: reason === '' ? `Failed: ${why}` : `Failed: ${why} (${reason})` }
}
