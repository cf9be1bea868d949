import { pathPart } from './path-part.ts'

/** The address of the page of an incident, which has its own window. */
export function incidentPath(id: string): string {
  return `/incidents/${pathPart(id)}`
}
