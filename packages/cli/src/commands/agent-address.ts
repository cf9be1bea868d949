import type { Loaded } from '../config/load.ts'
import { hostAndPort } from './listener.ts'

/** Addresses that mean all addresses of this machine; the request goes to loopback. */
const ANY: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Address of the agent of this machine, by the configuration: `http://127.0.0.1:9394`. */
export function agentAddress({ config }: Pick<Loaded, 'config'>): string {
  const { host, port } = config.agent.export.prometheus
  return `${config.access.tls.cert_file === undefined ? 'http' : 'https'}://${hostAndPort(ANY[host] ?? host, port)}`
}
