import { placeOf } from './listener.ts'

/** Addresses that stand for all of this machine's; asked on loopback. */
const ANY: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Where the agent of this machine answers, as it is configured: `http://127.0.0.1:9394`. */
export function agentAddress({ host, port }: { readonly host: string; readonly port: number }): string {
  return `http://${placeOf(ANY[host] ?? host, port)}`
}
