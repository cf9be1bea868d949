import type { AuditAnswer, ParamsAnswer } from '@sonde/sdk/api'
import { getAnswer, sendChange } from './client.ts'
import { createPoll, type Resource, usePoll } from './resources.ts'

const paramsPoll = createPoll(() => getAnswer('/api/v1/params'), 5_000)
const auditPoll = createPoll(() => getAnswer('/api/v1/audit'), 10_000)

/** The parameters and their history, renewed every 5 s. */
export function useParams(): Resource<ParamsAnswer> {
  return usePoll(paramsPoll)
}

/** The log of changes, renewed every 10 s. Only an admin gets an answer. */
export function useAudit(): Resource<AuditAnswer> {
  return usePoll(auditPoll)
}

/** Asks for the parameters now. */
export function retryParams(): void {
  void paramsPoll.refresh()
}

/** Sets a parameter; an empty value gives its default back. Throws `ApiError`. */
export async function setParam(name: string, value: string): Promise<void> {
  await sendChange('POST', '/api/v1/params', { values: { [name]: value } })
  await paramsPoll.refresh()
}

/** Takes the last change back. Throws `ApiError`. */
export async function undoChange(): Promise<void> {
  await sendChange('POST', '/api/v1/params/undo')
  await paramsPoll.refresh()
}
