export * from './closest.ts'
export * from './kit.ts'
