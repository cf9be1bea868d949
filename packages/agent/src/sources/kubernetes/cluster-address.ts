import { hostname } from 'node:os'
import { ApiServer } from './api-server.ts'
import type { KubernetesOptions } from './config.ts'

/**
 * The API server that the options name; undefined if it is not read.
 *
 * @param timeoutMsMax Longest time for an answer. Unit: milliseconds. Default: `api_timeout_ms` alone decides.
 */
export function apiServerOf(
  options: KubernetesOptions,
  timeoutMsMax = Number.POSITIVE_INFINITY,
): ApiServer | undefined {
  const { api_server, api_token_file: tokenFile, api_ca_file: caFile, api_timeout_ms, api_max_bytes } = options
  const address = apiAddress(api_server)
  if (address === undefined) return undefined
  const timeoutMs = Math.min(api_timeout_ms, timeoutMsMax)
  return new ApiServer({ address, tokenFile, caFile, timeoutMs, bytesMax: api_max_bytes })
}

/** The name of this node in Kubernetes. */
export function nodeNameOf({ node_name }: KubernetesOptions): string {
  return node_name || process.env.NODE_NAME || hostname()
}

/** The address of the API server; undefined if it is not read. In a pod, Kubernetes sets the variables. */
function apiAddress(option: string): string | undefined {
  if (option === 'off') return undefined
  if (option !== 'auto') return option
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = process.env
  if (host === '') return undefined
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`
}
