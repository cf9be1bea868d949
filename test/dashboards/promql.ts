// PromQL as the editor of Grafana and Prometheus parses it.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { NODE } from './recorded.ts'

interface TreeNode {
  readonly name: string
  readonly from: number
  readonly to: number
  readonly type: { readonly isError: boolean }
}
interface Parser {
  parse(text: string): { iterate(options: { enter(node: TreeNode): void }): void }
}

/** Reads expressions with the grammar of a peer. */
export class Promql {
  readonly #parser: Parser

  private constructor(parser: Parser) {
    this.#parser = parser
  }

  static async load(peer: string): Promise<Promql> {
    const path = join(peer, 'node_modules/@prometheus-io/lezer-promql/dist/index.es.js')
    const { parser } = (await import(pathToFileURL(path).href)) as { parser: Parser }
    return new Promql(parser)
  }

  /** The places of errors in an expression. */
  faults(expr: string): number[] {
    const faults: number[] = []
    this.#parser.parse(expr).iterate({ enter: ({ type, from }) => void (type.isError && faults.push(from)) })
    return faults
  }

  /** The selectors of an expression, with the length of their range. */
  selectors(expr: string): string[] {
    const found: string[] = []
    this.#parser.parse(expr).iterate({
      enter: ({ name, from, to }) => void (name === 'VectorSelector' && found.push(expr.slice(from, to))),
    })
    return found
  }
}

/** Replaces the variables of Grafana by what it would write for *All*, and for a window of an hour. */
export function substituted(expr: string): string {
  return expr
    .replaceAll('$__rate_interval', '1m')
    .replace(/\$\{?(rack|node|gpu|rdma_device|port|device|app|service|namespace)\b\}?/g, '.*')
}

/** The same for dashboards of others, with a node of the recorded samples. */
export function ofOthers(expr: string): string {
  // Metrics of GPUs and of the agent are those of the simulated node.
  const node = expr.includes('sonde_') ? NODE : 'other-node'
  return expr
    .replaceAll('$hostname:9400', NODE)
    .replaceAll('$hostname:9100', 'other-node')
    .replaceAll('$node', node)
    .replaceAll('"$job"', '"sonde"')
    .replaceAll('namespace="dynamo-system"', 'namespace!=""')
    .replace(/pod=~"\.\*(prefill|decode)\.\*"/g, 'pod!=""')
    .replace(/\$(cluster|diskdevices)|en\.\*/g, '.*')
    .replaceAll('[$__range:]', '[1m:15s]')
    .replace(/\[\$__(?:interval|rate_interval|range)\]/g, '[1m]')
}
