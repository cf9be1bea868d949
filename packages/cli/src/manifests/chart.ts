import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { chartDir } from '../places.ts'
import { Evaluation } from './template/evaluate.ts'
import { type Block, YAML_OPTIONS } from './template/functions.ts'
import { parseTemplate, type Templates } from './template/parse.ts'

/** The name and the place of what is rendered, as `helm install NAME --namespace NAMESPACE`. */
export interface Release {
  readonly name: string
  readonly namespace: string
  /** Value of the label `app.kubernetes.io/managed-by`. */
  readonly managedBy: string
}

/** The order in which objects can be created: each after those that it refers to. */
const KIND_ORDER = [
  ...['Namespace', 'NetworkPolicy', 'ServiceAccount', 'Secret', 'ConfigMap', 'PersistentVolumeClaim'],
  ...['ClusterRole', 'ClusterRoleBinding', 'Service', 'DaemonSet', 'Deployment'],
]

/** The values of the chart that hold without others. */
export function chartValues(folder: string = chartDir()): Block {
  return parse(readFileSync(join(folder, 'values.yaml'), 'utf8'), YAML_OPTIONS)
}

/**
 * The objects of the chart as YAML, in the order in which they can be created.
 *
 * @param values All values, the usual ones included.
 * @throws ConfigError if the values contradict each other.
 */
export function renderChart(values: Block, release: Release, folder: string = chartDir()): string {
  const templates: Templates = new Map()
  const paths = globSync('templates/*.{yaml,tpl}', { cwd: folder }).sort()
  for (const path of paths) parseTemplate(path, readFileSync(join(folder, path), 'utf8'), templates)
  const evaluation = new Evaluation(templates)
  const context = contextOf(values, release, folder)
  const objects = paths
    .filter((path) => path.endsWith('.yaml'))
    .flatMap((path) => evaluation.render(path, context).split(/^---$/m))
    .map((text) => text.trim())
    .filter((text) => text !== '')
  const ranked = objects.map((text) => ({ text, rank: rankOf(text) }))
  return ranked
    .sort((a, b) => a.rank - b.rank)
    .map(({ text }) => `---\n${text}\n`)
    .join('')
}

function contextOf(values: Block, { name, namespace, managedBy }: Release, folder: string): Block {
  const { version, appVersion, ...chart } = parse(readFileSync(join(folder, 'Chart.yaml'), 'utf8'), YAML_OPTIONS)
  return {
    Values: values,
    Chart: { Name: chart.name, Version: version, AppVersion: appVersion },
    Release: { Name: name, Namespace: namespace, Service: managedBy },
    // The command asks no cluster for its kinds: the values name the kinds to render.
    Capabilities: { APIVersions: { Has: () => true } },
    Files: {
      Glob: (pattern: string) => Object.fromEntries(globSync(pattern, { cwd: folder }).map((path) => [path, ''])),
      Get: (path: string) => readFileSync(join(folder, path), 'utf8'),
    },
  }
}

function rankOf(object: string): number {
  const [, kind = ''] = /^kind: (\w+)$/m.exec(object) ?? []
  const index = KIND_ORDER.indexOf(kind)
  return index < 0 ? KIND_ORDER.length : index
}
