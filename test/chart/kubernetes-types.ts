// Checks objects against the models of Kubernetes and of the Prometheus operator: their types know every field, and
// their schemas which fields are required and what texts may be.

import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../../scripts/setup.mjs'

/** An object of Kubernetes. */
export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [key: string]: unknown }
  readonly [key: string]: unknown
}

/** The models of KEDA are older than `fallback.behavior`. */
const WITH_BEHAVIOR = `
interface Fallback { failureThreshold: number, replicas: number, behavior?: 'static' | 'currentReplicas' | 'currentReplicasIfHigher' | 'currentReplicasIfLower' }
type WithBehavior<T extends { spec: object }> = Omit<T, 'spec'> & { spec: Omit<T['spec'], 'fallback'> & { fallback?: Fallback } }`

/** Errors of the compiler for objects by name, each with the types of its kind; empty if all are sound. */
export function compileObjects(peer: string, objects: Readonly<Record<string, KubernetesObject>>): string {
  const folder = join(peer, `objects-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  const entries = Object.entries(objects)
  const kinds = new Map(entries.map(([, object]) => [`${object.apiVersion}/${object.kind}`, object]))
  const names = [...kinds.keys()]
  const imports = [...kinds].map(
    ([, object], index) => `import type { I${object.kind} as K${index} } from '${moduleOf(object)}'`,
  )
  const values = entries.map(([name, object]) => {
    const model = `K${names.indexOf(`${object.apiVersion}/${object.kind}`)}`
    const type = object.kind === 'ScaledObject' ? `WithBehavior<${model}>` : model
    return `const ${name}: ${type} = ${JSON.stringify(object, null, 1)}\nvoid ${name}`
  })
  writeFileSync(join(folder, 'objects.ts'), [...imports, WITH_BEHAVIOR, ...values].join('\n'))
  const options = { target: 'es2024', module: 'nodenext', strict: true, noEmit: true, skipLibCheck: true, types: [] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['objects.ts'] }))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], { encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  return status === 0 ? '' : stdout
}

/** Throws what the schema of its kind says about an object. */
export async function validateObject(peer: string, object: KubernetesObject): Promise<void> {
  const path = join(peer, 'node_modules', `${moduleOf(object)}.js`)
  const models = await import(pathToFileURL(path).href)
  new models[object.kind](object).validate()
}

function moduleOf({ apiVersion, kind }: KubernetesObject): string {
  const [group = ''] = apiVersion.split('/')
  const models = { 'monitoring.coreos.com': 'prometheus-operator', 'keda.sh': 'keda' }[group]
  return `${models === undefined ? 'kubernetes-models' : `@kubernetes-models/${models}`}/${apiVersion}/${kind}`
}
