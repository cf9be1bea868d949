// `@sonde/sdk/internal`: for the other packages of Sonde. It changes without notice.

export { defineOwnType, typeOfDefinition } from '../schema/record-type.ts'
export { turn } from './turn.ts'
