import type { ApiPod } from './api-server-double.ts'

/** What a request selects: `fieldSelector`, `labelSelector`, and the namespace of its path. */
export function selectionOf(url: URL, namespace: string | undefined): (pod: ApiPod) => boolean {
  const fields = termsOf(url.searchParams.get('fieldSelector') ?? '')
  const labels = termsOf(url.searchParams.get('labelSelector') ?? '')
  return (pod) => {
    if (namespace !== undefined && pod.metadata.namespace !== namespace) return false
    return (
      fields.every((term) => term(fieldOf(pod, term.key))) &&
      labels.every((term) => term(pod.metadata.labels[term.key]))
    )
  }
}

/** Whether a parameter is set. Every text except `false` and `0` sets it: clients write `true`, `True` and `1`. */
export function isSet(url: URL, name: string): boolean {
  const value = url.searchParams.get(name)
  return value !== null && !['false', '0'].includes(value.toLowerCase())
}

interface Term {
  (value: string | undefined): boolean
  readonly key: string
}

/** The terms `KEY=VALUE`, `KEY==VALUE`, `KEY!=VALUE` and `KEY in (VALUE,VALUE)`, separated by commas. */
function termsOf(selector: string): Term[] {
  return [...selector.matchAll(/([^\s=!,]+)(?: in \(([^)]*)\)|(!?)==?([^,]*))/g)].map(
    ([, key = '', list, not = '', value = '']) => {
      const values = list === undefined ? [value] : list.split(',')
      const isMet = (given: string | undefined) => values.includes(given ?? '') === (not === '')
      return Object.assign(isMet, { key })
    },
  )
}

/** The fields by which a server selects pods. */
function fieldOf({ metadata, spec, status }: ApiPod, key: string): string {
  const fields: Readonly<Record<string, string | undefined>> = {
    'metadata.name': metadata.name,
    'metadata.namespace': metadata.namespace,
    'spec.nodeName': (spec as { nodeName?: string }).nodeName,
    'status.phase': (status as { phase?: string }).phase,
  }
  return fields[key] ?? ''
}

/** Answers to what clients ask before their first list, by path. */
export const DISCOVERY: Readonly<Record<string, object>> = {
  '/version': { gitVersion: 'v1.35.0', major: '1', minor: '35' },
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [] },
  '/api/v1': {
    kind: 'APIResourceList',
    groupVersion: 'v1',
    resources: [
      resource('pods', 'Pod', { singularName: 'pod', namespaced: true, shortNames: ['po'] }),
      resource('nodes', 'Node', { singularName: 'node', namespaced: false, shortNames: ['no'] }),
    ],
  },
}

function resource(name: string, kind: string, more: object): object {
  return { name, kind, verbs: ['get', 'list', 'watch'], ...more }
}
