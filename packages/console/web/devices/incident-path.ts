import type { Hint } from '@sonde/sdk/api'
import { pathPart } from './path-part.ts'

/** The address of the page of an incident, which has its own window. */
export function incidentPath(id: string): string {
  return `/incidents/${pathPart(id)}`
}

/** The address of the page of the incident to which a hint belongs. */
export function incidentPathOfHint(node: string, { event }: Pick<Hint, 'event'>): string {
  return incidentPath(`${node}:${event}`)
}
