# SPDX-License-Identifier: MIT
# The software bill of materials in SPDX 2.3 (https://spdx.github.io/spdx-spec/v2.3/): this package and the libraries its
# programs are linked to, in the versions they were built with.
string(TIMESTAMP created "%Y-%m-%dT%H:%M:%SZ" UTC) # SOURCE_DATE_EPOCH where that is set
set(packages)
set(relationships "    {\"spdxElementId\": \"SPDXRef-DOCUMENT\", \"relationshipType\": \"DESCRIBES\", \"relatedSpdxElement\": \"SPDXRef-tcpscaler\"}")

function(add_sbom_package name version licence purpose)
  set(reference)
  if(version)
    set(reference ", \"versionInfo\": \"${version}\",
     \"externalRefs\": [{\"referenceCategory\": \"PACKAGE-MANAGER\", \"referenceType\": \"purl\", \"referenceLocator\": \"pkg:generic/${name}@${version}\"}]")
  endif()
  string(APPEND packages "    {\"SPDXID\": \"SPDXRef-${name}\", \"name\": \"${name}\"${reference},
     \"downloadLocation\": \"NOASSERTION\", \"filesAnalyzed\": false, \"primaryPackagePurpose\": \"${purpose}\",
     \"licenseConcluded\": \"${licence}\", \"licenseDeclared\": \"${licence}\", \"copyrightText\": \"NOASSERTION\"},\n")
  set(packages "${packages}" PARENT_SCOPE)
  if(purpose STREQUAL "LIBRARY")
    string(APPEND relationships ",\n    {\"spdxElementId\": \"SPDXRef-tcpscaler\", \"relationshipType\": \"DYNAMIC_LINK\", \"relatedSpdxElement\": \"SPDXRef-${name}\"}")
    set(relationships "${relationships}" PARENT_SCOPE)
  endif()
endfunction()

add_sbom_package(tcpscaler "${PROJECT_VERSION}" MIT APPLICATION)
add_sbom_package(libc "" NOASSERTION LIBRARY)
add_sbom_package(libevent "${LIBEVENT_libevent_core_VERSION}" BSD-3-Clause LIBRARY)
add_sbom_package(openssl "${OPENSSL_VERSION}" Apache-2.0 LIBRARY)
if(ZLIB_FOUND)
  add_sbom_package(zlib "${ZLIB_VERSION_STRING}" Zlib LIBRARY)
endif()
if(WITH_TCPREPORT)
  add_sbom_package(json-c "${JSONC_VERSION}" MIT LIBRARY)
endif()
string(REGEX REPLACE ",\n$" "" packages "${packages}")
string(SHA256 digest "${packages}")

file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/tcpscaler.spdx.json "{
  \"spdxVersion\": \"SPDX-2.3\",
  \"dataLicense\": \"CC0-1.0\",
  \"SPDXID\": \"SPDXRef-DOCUMENT\",
  \"name\": \"tcpscaler-${PROJECT_VERSION}\",
  \"documentNamespace\": \"https://spdx.org/spdxdocs/tcpscaler-${PROJECT_VERSION}-${digest}\",
  \"creationInfo\": {\"created\": \"${created}\", \"creators\": [\"Tool: cmake-${CMAKE_VERSION}\", \"Organization: The tcpscaler maintainers\"]},
  \"packages\": [
${packages}
  ],
  \"relationships\": [
${relationships}
  ]
}
")
