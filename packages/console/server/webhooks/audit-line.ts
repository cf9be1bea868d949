import { type DeliveryResult, isSuccess } from './delivery.ts'

/**
 * The line on standard output for an attempt, as documented for the Convox rack. A URL may have secrets in its path and
 * query, so the line has only its host. Without an answer the status is 0, and `error` says why.
 */
export function auditLine(urlHost: string, result: DeliveryResult): string {
  const type = isSuccess(result) ? 'webhook_dispatch_succeeded' : 'webhook_dispatch_failed'
  const error = result.error === undefined ? '' : ` error=${result.error}`
  return `audit_type=${type} url_host=${urlHost} status=${result.status}${error}`
}
