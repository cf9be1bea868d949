import { hostAndPort } from './listener.ts'

/** Addresses that mean all addresses of this machine; the request goes to loopback. */
const ANY: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Address of the agent of this machine, by the configuration: `http://127.0.0.1:9394`. */
export function agentAddress({ host, port }: { readonly host: string; readonly port: number }): string {
  return `http://${hostAndPort(ANY[host] ?? host, port)}`
}
