declare module 'snappyjs' {
  const snappy: { uncompress(packed: Uint8Array): Uint8Array; compress(bytes: Uint8Array): Uint8Array }
  export default snappy
}
