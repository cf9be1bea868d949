import { incidentSink, Webhooks } from '@sonde/console'
import type { Sink } from '@sonde/sdk'
import type { Logger } from 'pino'
import type { Loaded } from '../config/load.ts'

/** The webhooks of the configuration. */
export function openWebhooks({ config }: Loaded, log: Logger): Webhooks {
  const { receivers, retries, signature_header: signatureHeader, ...keys } = config.console.webhooks
  const { secret_file: secretFile, secret_env: secretEnv } = keys
  const { signing_key_file: signingKeyFile, signing_key_env: signingKeyEnv } = keys
  const signing = { secretFile, secretEnv, signingKeyFile, signingKeyEnv, signatureHeader }
  return new Webhooks({ receivers, retries, log, ...signing })
}

/** What an agent needs to send its hints and events. Without receivers it does no work for them. */
export function incidentSinks(webhooks: Webhooks): readonly Sink[] {
  return webhooks.hasReceivers ? [incidentSink(webhooks)] : []
}
