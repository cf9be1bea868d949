import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/setup.mjs'
import { objectsIn } from './helm.ts'

/** The parts of a container that a test uses. */
export interface TestContainer {
  readonly args?: readonly string[]
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[]
  readonly volumeMounts: readonly { readonly mountPath: string }[]
  readonly livenessProbe: { readonly httpGet: { readonly path: string } }
  readonly readinessProbe: { readonly httpGet: { readonly path: string } }
}

/** Name of the node in place of the field `spec.nodeName`. */
export const NODE_NAME = 'gpu-17'

/** The only container of the DaemonSet or Deployment in a file, and the configuration file of its ConfigMap. */
export function containerIn(path: string): { container: TestContainer; config: string } {
  const objects = objectsIn(readFileSync(join(root, path), 'utf8'))
  const pods = objects.find(({ kind }) => kind === 'DaemonSet' || kind === 'Deployment')
  assert.ok(pods !== undefined, `${path} has a DaemonSet or a Deployment`)
  const { template } = pods.spec as { template: { spec: { containers: [TestContainer] } } }
  const data = objects.find(({ kind }) => kind === 'ConfigMap')?.data as Record<string, string> | undefined
  return { container: template.spec.containers[0], config: data?.['sonde.yaml'] ?? '' }
}

/** The variables of a container, as the kubelet would set them. */
export function environmentOf({ env }: TestContainer): Record<string, string> {
  return Object.fromEntries(env.map(({ name, value }) => [name, value ?? NODE_NAME]))
}
