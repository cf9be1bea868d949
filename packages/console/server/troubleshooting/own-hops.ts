import type { TroubleshootingHop } from '@sonde/sdk/api'
import { countOf, sondeCommand } from '@sonde/sdk/internal'
import type { Params } from '../params/params.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'
import { paramCommands, type Reader, webhookCommands } from './commands.ts'
import { sentence } from './facts.ts'

/** Parameters that decide whether numbers are read and served. */
const SHOWN = [
  ...['gpu_observability_enable', 'nvidia_device_plugin_enable', 'gpu_scraper_enable', 'dcgm_scrape_interval'],
  ...['gpu_metrics_max_pods', 'gpu_metrics_max_concurrent'],
]

/** The parameters of GPUs. `isRead`: whether GPUs are read, with or without them. */
export function paramHop(params: Params, isRead: boolean): TroubleshootingHop {
  const common = { name: 'Parameters', commands: paramCommands() }
  const values = SHOWN.map((name) => `${name}=${params.value(name)}`).join(' ')
  if (params.fault !== '') {
    const finding = sentence(params.fault)
    return { ...common, state: 'broken', finding, advice: 'The last good values hold until the file is corrected.' }
  }
  if (params.value('gpu_observability_enable') === 'true' || isRead)
    return { ...common, state: 'ok', finding: values, advice: '' }
  const set = `${sondeCommand()} params set gpu_observability_enable=true nvidia_device_plugin_enable=true`
  const advice = `To install exporters in a cluster, run: ${set}`
  return { ...common, state: 'off', finding: values, advice }
}

/** The receivers of webhooks. */
export function webhookHop(webhooks: Webhooks, reader: Reader): TroubleshootingHop {
  const common = { name: 'Webhooks', commands: webhookCommands(reader) }
  const { receivers, skipped } = webhooks.answer()
  const left = skipped[0]
  if (left !== undefined) {
    const finding = `${countOf(skipped.length, 'receiver')} left out: ${left.name} (${left.reason}).`
    return { ...common, state: 'broken', finding, advice: sentence(left.message) }
  }
  if (receivers.length === 0)
    return {
      ...common,
      state: 'off',
      finding: 'There are no receivers.',
      advice: 'They stand in console.webhooks.receivers.',
    }
  const ill = receivers.find(({ fault }) => fault !== undefined)
  if (ill !== undefined)
    return { ...common, state: 'broken', finding: `Receiver ${ill.name}: ${ill.fault}.`, advice: '' }
  const sum = (of: 'succeeded' | 'failed') => receivers.reduce((total, receiver) => total + receiver[of], 0)
  const counts = `${countOf(receivers.length, 'receiver')}, ${sum('succeeded')} delivered, ${sum('failed')} failed.`
  const lasts = receivers.flatMap(({ name: receiver }) => webhooks.deliveries({ receiver, limit: 1 }).deliveries)
  const last = lasts.find(({ state }) => state === 'failed')
  if (last === undefined) {
    const isUntried = lasts.length === 0
    const advice = isUntried ? 'Send a test, on the page Settings.' : ''
    return { ...common, state: isUntried ? 'unknown' : 'ok', finding: counts, advice }
  }
  const why = last.status > 0 ? `status ${last.status}` : (last.reason ?? last.error ?? 'no answer')
  const advice =
    'Failed messages are not sent again by default. Correct the receiver, then send a test on the page Settings.'
  return { ...common, state: 'broken', finding: `${counts} The last to ${last.receiver} failed: ${why}.`, advice }
}
