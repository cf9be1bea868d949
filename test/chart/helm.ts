import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { root } from '../../scripts/setup.mjs'
import type { KubernetesObject } from './kubernetes-types.ts'

/** The folder of the chart. */
export const CHART = join(root, 'deploy/helm/sonde')
/** Kinds of the Prometheus operator that the chart can make. */
export const OPERATOR_KINDS = ['v1/ServiceMonitor', 'v1/PodMonitor', 'v1/PrometheusRule', 'v1alpha1/ScrapeConfig'].map(
  (kind) => `monitoring.coreos.com/${kind}`,
)

/** What a run of Helm printed, and whether it succeeded. */
export interface HelmEnd {
  readonly ok: boolean
  readonly output: string
}

/** Runs Helm without a cluster. */
export async function runHelm(helm: string, args: readonly string[]): Promise<HelmEnd> {
  const env = { ...process.env, KUBECONFIG: '/dev/null', HELM_CACHE_HOME: '/dev/null' }
  try {
    const { stdout } = await promisify(execFile)(helm, args, { env, maxBuffer: 1 << 26 })
    return { ok: true, output: stdout }
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    return { ok: false, output: stdout + stderr }
  }
}

/** The objects of rendered YAML, in its order. */
export function objectsIn(yaml: string): KubernetesObject[] {
  return parseAllDocuments(yaml, { version: '1.1' }).flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0]
    const value = document.toJS() as KubernetesObject | null
    return value === null ? [] : [value]
  })
}
